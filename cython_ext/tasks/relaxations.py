"""Which problem is solved where graphs have no exact oracle, or none that is fast: none, the exact one; lp, that over
the local marginal polytope, with tree-reweighted entropies where the loss is a log of sums; soft, the soft constraints
of Meshi, Srebro and Hazan (2015). A relaxation is a structure, soft with a feature map of its own; solvers and
objectives do not know of it."""

RELAXATIONS = ('none', 'lp', 'soft')
TREES = 'tree-reweighted'
INFERENCES = {'exact': 'none', 'lp': 'lp', 'dual-decomposition': 'dual-decomposition', TREES: TREES}  # ways to predict
RHO = 1.0  # good over a wide range of budgets (section 6 of the paper)


def exact(layout, naming):
    """(Graph or, where its tables would be too large, GraphCuts, GraphFeatures); ValueError where the graphs have no
    exact oracle."""
    from cython_ext.features.graph.factors import FactorWeights, GraphFeatures
    from cython_ext.structures.graph.count_layout import CountsError
    from cython_ext.structures.graph.cut_layout import are_binary
    from cython_ext.structures.graph.elimination import TooLargeError
    from cython_ext.structures.graph.factor_graphs import FactorGraphs
    from cython_ext.structures.graph.graph import Graph
    from cython_ext.structures.graph.graph_cuts import GraphCuts

    graphs = FactorGraphs(layout)
    try:
        structure = Graph(graphs)
    except TooLargeError as error:
        if not are_binary(layout):
            raise TooLargeError(f'{error}: there is no exact oracle (use --relaxation soft or lp)') from error
        structure = GraphCuts(graphs)
    except CountsError as error:
        raise CountsError(f'{error}: there is no exact oracle (use --relaxation soft or lp)') from error
    return structure, GraphFeatures(FactorWeights(graphs, naming))


def soft(layout, naming, lam, rho, smoothing=0.0, multipliers=None):
    """(FactorBlocks, SoftFeatures), which say what the last two are."""
    from cython_ext.features.graph.factors import FactorWeights
    from cython_ext.relaxations.block_layout import has_global_factors
    from cython_ext.relaxations.factor_blocks import FactorBlocks
    from cython_ext.relaxations.soft import SoftFeatures
    from cython_ext.structures.graph.factor_graphs import FactorGraphs

    if smoothing > 0 and has_global_factors(layout):
        raise ValueError('maxima over the labelings of global factors cannot be smoothed')
    graphs = FactorGraphs(layout)
    blocks = FactorBlocks(graphs, multipliers)
    return blocks, SoftFeatures(blocks, FactorWeights(graphs, naming), lam, rho, smoothing)


def next_stage(problem, rho, multipliers, variant=None):
    """A soft-constraint Problem with another rho and other multipliers (float64[agreements] or None). Its dual points
    are the same, since only features depend on them."""
    from cython_ext.core.problem import Problem
    from cython_ext.losses.graph import BlockCosts
    from cython_ext.objectives.registry import build_objective
    from cython_ext.relaxations.factor_blocks import FactorBlocks
    from cython_ext.relaxations.soft import SoftFeatures

    features = problem.features
    blocks = FactorBlocks(features.outputs.graphs, multipliers)
    stage = SoftFeatures(blocks, features.weights_of_factors, problem.lam, rho, features.smoothing)
    objective = build_objective(problem.objective_name, blocks, BlockCosts(blocks), variant)
    names = problem.structure_name, problem.objective_name, problem.loss_name
    return Problem(blocks, stage, objective, problem.lam, names, problem.pool, problem.log_values)


def linear_program(layout, naming):
    """(LocalPolytope, GraphFeatures)."""
    from cython_ext.features.graph.factors import FactorWeights, GraphFeatures
    from cython_ext.relaxations.local_polytope import LocalPolytope
    from cython_ext.structures.graph.factor_graphs import FactorGraphs

    graphs = FactorGraphs(layout)
    return LocalPolytope(graphs), GraphFeatures(FactorWeights(graphs, naming))


def dual_decomposition(layout, naming):
    """(DualDecomposition, GraphFeatures), to predict with; CountsError where there are counts."""
    from cython_ext.features.graph.factors import FactorWeights, GraphFeatures
    from cython_ext.relaxations.dual_decomposition import DualDecomposition
    from cython_ext.structures.graph.count_layout import CountsError, has_counts
    from cython_ext.structures.graph.factor_graphs import FactorGraphs

    if any(has_counts(layout, shape) for shape in layout.shapes):
        raise CountsError('a graph has a factor that counts, which has no table to send messages from')
    graphs = FactorGraphs(layout)
    return DualDecomposition(graphs), GraphFeatures(FactorWeights(graphs, naming))


def tree_reweighted(layout, naming):
    """(TreeReweighted, GraphFeatures); ValueError where there are other factors than pairs."""
    from cython_ext.features.graph.factors import FactorWeights, GraphFeatures
    from cython_ext.relaxations.tree_reweighted import TreeReweighted
    from cython_ext.structures.graph.factor_graphs import FactorGraphs

    graphs = FactorGraphs(layout)
    return TreeReweighted(graphs), GraphFeatures(FactorWeights(graphs, naming))


def build_relaxed(layout, naming, relaxation='none', rho=RHO, lam=1.0, trained='soft', sums=False, **how):
    """(Structure, FeatureMap) of a GraphLayout; naming: see FactorWeights; relaxation: one of RELAXATIONS, or to
    predict with one of INFERENCES, None for the best one of none and lp; trained: the relaxation of the weights to
    predict with, of which those of soft constraints need not be such that cuts are fast; rho, how: of soft; lam:
    lambda; sums: whether lp is to have sums over labelings, not maxima."""
    if relaxation is None:
        relaxation = 'none' if has_exact_oracle(layout) or (trained == 'none' and has_cuts(layout)) else 'lp'
    if relaxation == 'soft':
        return soft(layout, naming, lam, rho, **how)
    builders = {'none': exact, 'dual-decomposition': dual_decomposition, TREES: tree_reweighted}
    builders['lp'] = tree_reweighted if sums else linear_program
    return builders[relaxation](layout, naming)


def arguments_of_relaxation(how, lam, objective, **_):
    """What build_relaxed has to know of a problem: features of soft constraints depend on lambda, and the polytope has
    an oracle for maxima, or one for sums."""
    return {'lam': lam, 'sums': objective != 'hinge'} if 'relaxation' in how else {}


def log_values(features):
    """{column: function}, see Problem: of soft constraints, the objective that they relax."""
    from cython_ext.relaxations.soft import SoftFeatures

    if not isinstance(features, SoftFeatures):
        return {}
    from cython_ext.core.relaxed_primal import relaxed_primal

    return {'relaxed_primal': relaxed_primal}


def has_cuts(layout):
    """Whether exact() can do without small tables."""
    from cython_ext.structures.graph.cut_layout import are_binary

    return are_binary(layout)


def has_exact_oracle(layout):
    """Whether every graph has small enough tables: an exact oracle that is fast whatever the scores are."""
    from cython_ext.structures.graph.count_layout import CountsError, counts_and_nodes, has_counts
    from cython_ext.structures.graph.elimination import TooLargeError, elimination_order

    try:
        for shape in layout.shapes:
            if has_counts(layout, shape):
                counts_and_nodes(layout.types, shape)
            else:
                elimination_order([layout.types[kind].size for kind in shape.types[: shape.nodes]], shape.scopes)
    except (CountsError, TooLargeError):
        return False
    return True
