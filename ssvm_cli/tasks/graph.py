"""States of the nodes of factor graphs."""

import numpy as np

from cython_ext.tasks.graph import ATTRIBUTES, STATE_ATTRIBUTES, layout_of, state_attributes_of
from data_formats.errors import DataError
from data_formats.parameters.multilabel import MULTIPLIERS
from ssvm_cli.options.problem_spec import ProblemSpec
from ssvm_cli.options.relaxation import about_cuts, prediction, requested_relaxation
from ssvm_cli.scores.graph import NodeScores
from ssvm_cli.tasks.base import Task, without_attributes
from ssvm_cli.terminal.progress import counted


class GraphTask(Task):
    """The task whose data are a GraphDataset."""

    name = 'graph'
    options = ('min_freq', 'bias', 'marginals', 'inference')

    # ------------------------------------------------------------------------------------------- training

    def facts(self, dataset, o):
        counting = any(buckets is not None for buckets in dataset.buckets)
        per_state = [len(attributes) for attributes in state_attributes_of(dataset)]
        lists = [None if buckets is None else list(buckets) for buckets in dataset.buckets]
        return {
            'states': [list(names) for names in dataset.states],
            'scopes': [list(kinds) for kinds in dataset.scopes],
            **({'buckets': lists} if counting else {}),
            **({'per_state': per_state} if any(per_state) else {}),
        }

    def structure(self, o, module, dataset):
        return requested_relaxation(o, self.layout(dataset))

    def layout(self, dataset):
        """The GraphLayout of a dataset."""
        return layout_of(dataset)

    def sizes(self, dataset):
        return [
            counted(dataset.n, 'graph'),
            counted(dataset.tokens, 'node'),
            counted(len(dataset.factor_type), 'factor of several nodes', 'factors of several nodes'),
            *([counted(dataset.global_factors, 'global factor')] if dataset.global_factors else []),
            counted(len(dataset.attributes), 'attribute'),
        ]

    def warning(self, dataset, o, facts):
        return without_attributes(dataset, o) or about_cuts(o, self.layout(dataset))

    def transferred(self, model, dataset, features, path):
        data, theirs = ProblemSpec.from_header(model.header).data, self.facts(dataset, None)
        kinds = ('states', 'scopes', 'buckets')
        if any(theirs.get(key) != data.get(key) for key in kinds):
            raise DataError(path, None, 'has other types of nodes and factors', 'expected those of the training data')
        from ssvm_cli.initial.weights import graph_weights

        return graph_weights(model, dataset, features.blocks(features.zeros()))

    # ----------------------------------------------------------------------------------- reading with a model

    def model_options(self, spec):
        return {'bias': bool(spec.data.get('bias'))}

    def lack(self, dataset, spec, what):
        if dataset.complete:
            return None
        node = int((dataset.labels < 0).argmax())
        example = int((dataset.node_indptr <= node).sum())
        return f'node {node - dataset.node_indptr[example - 1]} of graph {example} has no label', 'expected labels'

    def given(self, dataset):
        return bool((dataset.labels >= 0).any())

    def problem_structure(self, spec, model, path):
        multipliers = {'multipliers': model.weights[MULTIPLIERS]} if MULTIPLIERS in model.weights else {}
        return {**spec.structure, **multipliers, **self.known(spec, model.weights)}

    def known(self, spec, weights):
        """What else the weights of a model depend on: the attributes of each type."""
        types = range(len(spec.data['states']) + len(spec.data['scopes']))
        of_states = [weights.get(f'{STATE_ATTRIBUTES}.{t}', np.zeros(0, np.int32)) for t in types]
        return {'attributes': [weights[f'{ATTRIBUTES}.{t}'] for t in types], 'state_attributes': of_states}

    # ------------------------------------------------------------------------------------------ predicting

    def build_options(self, spec, model, path):
        return {'structure': {**prediction(spec.structure), **self.known(spec, model.weights)}}

    def problem_options(self, spec, problem):
        how = prediction(spec.structure)
        naming = problem.features.naming
        known = {'attributes': naming.attributes, 'state_attributes': naming.state_attributes}
        return {'structure': {**how, **known}}

    def outputs(self, codes, dataset, decoder, w):
        """The state of each node, int32 [V]."""
        return decoder.structure.labelings(codes, decoder.code_indptr)

    def marginals(self, predictions):
        """For each graph the member "marginals": for each node its states with their probabilities."""
        dataset, found = predictions.dataset, []
        kinds = dataset.node_type.tolist()
        for i, mean in enumerate(predictions.means()):
            at, nodes = 0, []
            for v in range(*dataset.node_indptr[i : i + 2].tolist()):
                names = dataset.states[kinds[v]]
                nodes.append(dict(zip(names, np.round(mean[at : at + len(names)], 6).tolist(), strict=True)))
                at += len(names)
            found.append({'marginals': nodes})
        return found

    def scores(self, spec, model, o=None):
        return NodeScores(model.node_types.names(), model.states)


TASK = GraphTask
