package sample

import (
	"context"
	"maps"
	"slices"

	"github.com/proofmill/proofmill/pkg/filecoin"
)

// labels are the labels of a replica. Those of some nodes are computed from their parents in the graph; all others are
// pseudo-random. Once made it is only read.
type labels struct {
	source    source
	graph     *filecoin.Graph
	replicaID filecoin.Node
	size      filecoin.SectorSize
	layers    int
	nodes     []uint64                   // whose labels are computed, rising
	computed  map[uint64][]filecoin.Node // the columns of nodes
}

func newLabels(st *filecoin.SealStatement, src source, nodes []uint64) *labels {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	return &labels{
		source: src, graph: st.Proof.Graph(), replicaID: st.ReplicaID(),
		size: st.Proof.Size(), layers: st.Proof.Size().Layers(), nodes: slices.Compact(nodes),
	}
}

// make computes the labels. A label depends on labels of smaller nodes in its own layer and on those of the layer before.
func (l *labels) make(ctx context.Context) error {
	l.computed = make(map[uint64][]filecoin.Node, len(l.nodes))
	rows := make([]filecoin.Node, l.layers*len(l.nodes))
	for i, node := range l.nodes {
		l.computed[node] = rows[i*l.layers:][:l.layers:l.layers]
	}
	const perLook = 1 << 12
	for layer := range l.layers {
		for i, node := range l.nodes {
			if i%perLook == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			var hashed []filecoin.Node
			if node > 0 {
				hashed = l.parents(layer, node)
			}
			l.computed[node][layer] = filecoin.Label(l.replicaID, uint32(layer+1), node, hashed)
		}
	}
	return nil
}

// at is the label of a node in a layer; layer 0 is the first.
func (l *labels) at(layer int, node uint64) filecoin.Node {
	if column, ok := l.computed[node]; ok {
		return column[layer]
	}
	return l.source.node(useLabel, layer, node)
}

// column is a node's label in each layer. The caller owns it.
func (l *labels) column(node uint64) []filecoin.Node {
	rows := make([]filecoin.Node, l.layers)
	for layer := range rows {
		rows[layer] = l.at(layer, node)
	}
	return rows
}

// parents are the labels that the label of a node other than 0 hashes: of its parents in the layer, then, from the second
// layer on, of its expander parents in the layer before; repeated.
func (l *labels) parents(layer int, node uint64) []filecoin.Node {
	out := make([]filecoin.Node, 0, filecoin.LabelParents)
	for _, p := range l.graph.DRGParents(node) {
		out = append(out, l.at(layer, uint64(p)))
	}
	if layer > 0 {
		for _, p := range l.graph.ExpParents(node) {
			out = append(out, l.at(layer-1, uint64(p)))
		}
	}
	for distinct := len(out); len(out) < filecoin.LabelParents; {
		out = append(out, out[:min(distinct, filecoin.LabelParents-len(out))]...)
	}
	return out
}

// proof is what a vanilla proof says of a label.
func (l *labels) proof(layer int, node uint64) filecoin.LabelProof {
	return filecoin.LabelProof{Parents: l.parents(layer, node), Layer: uint32(layer + 1), Node: node} //nolint:gosec // at most 11 layers
}

// opened are the nodes whose columns a proof of all computed nodes opens, rising: these and their parents.
func (l *labels) opened() []uint64 {
	if uint64(len(l.nodes)) == l.size.Nodes() {
		return l.nodes
	}
	all := make(map[uint64]struct{}, len(l.nodes))
	for _, node := range l.nodes {
		all[node] = struct{}{}
		for _, p := range l.graph.DRGParents(node) {
			all[uint64(p)] = struct{}{}
		}
		for _, p := range l.graph.ExpParents(node) {
			all[uint64(p)] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(all))
}
