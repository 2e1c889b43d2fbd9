package inputs

import (
	"context"

	"github.com/proofmill/proofmill/pkg/engine"
	"github.com/proofmill/proofmill/pkg/filecoin"
	"github.com/proofmill/proofmill/pkg/wire"
)

// Getter reads whole objects, checked against their references. The store of package objects is one.
type Getter interface {
	Get(ctx context.Context, ref wire.ObjectRef) ([]byte, error)
}

var kinds = map[wire.Kind]filecoin.Kind{
	wire.KindPoRep: filecoin.PoRep, wire.KindUpdate: filecoin.Update, wire.KindWindowPoSt: filecoin.Window, wire.KindWinningPoSt: filecoin.Winning,
}

// Statement is a request of the engine without its vanilla proofs.
func Statement(st *wire.Statement) *engine.Request {
	return &engine.Request{
		Kind: kinds[st.Kind], RegisteredProof: st.RegisteredProof, SectorSize: st.SectorSize, Miner: st.Miner, Sector: st.Sector,
		PartitionIndex: st.PartitionIndex, Randomness: st.Randomness,
		CommROld: filecoin.Node(st.CommROld), CommRNew: filecoin.Node(st.CommRNew), CommDNew: filecoin.Node(st.CommDNew),
	}
}

// Fetch gives the vanilla proofs in order. Inline ones share the message's memory; those in objects are read one object after
// another and checked. It blocks until all are there, one is missing or damaged (codes input_missing and input_corrupt), or ctx ends.
func Fetch(ctx context.Context, store Getter, in *wire.Inputs) ([][]byte, error) {
	objects := make([][]byte, len(in.Objects))
	out := make([][]byte, len(in.List))
	for i := range in.List {
		x := &in.List[i]
		if x.Object == 0 {
			out[i] = x.Inline
			continue
		}
		n := x.Object - 1
		if objects[n] == nil {
			data, err := store.Get(ctx, in.Objects[n])
			if err != nil {
				return nil, err
			}
			objects[n] = data
		}
		part := objects[n][x.Offset : x.Offset+x.Size]
		if wire.SumOf(part) != x.SHA256 {
			return nil, wire.Errorf(wire.CodeInputCorrupt, "input %d: its bytes in object %s do not have the announced SHA-256", i, in.Objects[n].Name)
		}
		out[i] = part
	}
	return out, nil
}

// Part is the range of inputs from to before to, with only the objects that it needs.
func Part(in *wire.Inputs, from, to int) wire.Inputs {
	part := wire.Inputs{List: make([]wire.Input, 0, to-from)}
	renumbered := make(map[uint32]uint32)
	for _, x := range in.List[from:to] {
		if x.Object != 0 {
			n, ok := renumbered[x.Object]
			if !ok {
				part.Objects = append(part.Objects, in.Objects[x.Object-1])
				n = uint32(len(part.Objects)) //nolint:gosec // at most wire.MaxObjects
				renumbered[x.Object] = n
			}
			x.Object = n
		}
		part.List = append(part.List, x)
	}
	return part
}
