"""Importing the generated module that a plan names."""

import importlib
from typing import cast

from wireloom.catalog import FormatModule
from wireloom.ingest.plan import Plan
from wireloom.runtime.errors import ContractError


def open_module(plan: Plan) -> FormatModule:
    """Import the module of a plan; its spec must have the same text or meaning as the driver's."""
    module = cast(FormatModule, importlib.import_module(plan.module))
    if plan.digest not in (module.DIGEST, module.MEANING):
        raise ContractError(
            f"this worker has {plan.module} of spec {module.MEANING[:12]}, the driver of spec {plan.digest[:12]}: "
            "ship the same package to both (`wireloom package` makes it) and start the session again"
        )
    return module
