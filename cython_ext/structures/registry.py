"""All output structures, one line each: task name -> module with an INFO."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

MODULES = {
    'multiclass': 'cython_ext.structures.multiclass',
    'chain': 'cython_ext.structures.chain',
    'dependency': 'cython_ext.structures.dependency',
    'alignment': 'cython_ext.structures.alignment',
    'cfg': 'cython_ext.structures.cfg',
    'multilabel': 'cython_ext.structures.multilabel',
    'graph': 'cython_ext.structures.labelled_graphs',
    'matching': 'cython_ext.structures.matching',
    'candidates': 'cython_ext.structures.candidates',
    'boxes': 'cython_ext.structures.boxes',
}


@dataclass(frozen=True)
class StructureInfo:
    """build(dataset, feature_set, **how) -> (Structure, FeatureMap), how as in features/tokens.py; losses: name ->
    function of the structure that gives a TaskLoss; cost_matrix(structure, matrix) -> TaskLoss, or None where costs per
    label make no sense; strata: name of a loss ('costs' for a matrix) -> function of structure and TaskLoss that gives
    its Strata, for the losses that have some; decomposable: the names of the losses that add up over parts."""

    name: str
    summary: str
    build: Any
    losses: dict
    default_loss: str
    cost_matrix: Any = None
    strata: dict = field(default_factory=dict)
    decomposable: tuple = ()


def structure_info(name):
    """The StructureInfo of a task; KeyError when there is none."""
    return import_module(MODULES[name]).INFO
