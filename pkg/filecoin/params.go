package filecoin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
)

// ParamsVersion starts the name of every parameter file.
const ParamsVersion = "v28"

// ParamsDir is the directory of parameter files: $FIL_PROOFS_PARAMETER_CACHE, or the default that all Filecoin programs
// share.
func ParamsDir() string {
	if dir := os.Getenv("FIL_PROOFS_PARAMETER_CACHE"); dir != "" {
		return dir
	}
	return "/var/tmp/filecoin-proof-parameters"
}

// CacheIdentifier names the circuit of a kind and size in parameter files: what it is, the tree it is over, and a digest
// of ParameterSet.
func CacheIdentifier(kind Kind, size SectorSize) (string, error) {
	set, err := ParameterSet(kind, size)
	if err != nil {
		return "", err
	}
	tree := "merkletree-poseidon_hasher-" + size.Shape().String()
	var prefix string
	switch kind {
	case PoRep:
		prefix = "stacked-proof-of-replication-" + tree + "-sha256_hasher"
	case Update:
		prefix = "empty-sector-update-" + tree
	default:
		prefix = "proof-of-spacetime-fallback-" + tree
	}
	digest := sha256.Sum256([]byte(set))
	return prefix + "-" + hex.EncodeToString(digest[:]), nil
}

// ParameterSet is the reference's text of what shapes the circuit of a kind and size. Its digest is part of file names, so
// that it can never change.
func ParameterSet(kind Kind, size SectorSize) (string, error) {
	if !size.Valid() {
		return "", fmt.Errorf("parameters: sector size %s is unknown", size)
	}
	switch kind {
	case PoRep:
		return fmt.Sprintf("layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: %d base_graph: "+
			"drgraph::BucketGraph{size: %d; degree: %d; hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: %d, "+
			"max_count: %d }, tree: merkletree-poseidon_hasher-%s }",
			ExpDegree, size.Nodes(), DRGDegree, size.Layers(), size.PoRepChallenges(), size.Shape()), nil
	case Winning: // as if of 66 sectors with one challenge each
		return postParameterSet(size, 1, WinningChallenges), nil
	case Window:
		return postParameterSet(size, WindowChallenges, size.WindowSectors()), nil
	case Update:
		return fmt.Sprintf("empty_sector_update::PublicParams{ sector_nodes: %d }", size.Nodes()), nil
	}
	return "", fmt.Errorf("parameters: proof %s is unknown", kind)
}

func postParameterSet(size SectorSize, challenges, sectors int) string {
	return fmt.Sprintf("FallbackPoSt::PublicParams{sector_size: %d, challenge_count: %d, sector_count: %d}",
		uint64(size), challenges, sectors)
}

// ParamsFile is the name of the parameter file (proving key) of a kind and size.
func ParamsFile(kind Kind, size SectorSize) (string, error) {
	id, err := CacheIdentifier(kind, size)
	if err != nil {
		return "", err
	}
	return ParamsVersion + "-" + id + ".params", nil
}

// VerifyingKeyFile is the name of the verifying key file of a kind and size.
func VerifyingKeyFile(kind Kind, size SectorSize) (string, error) {
	id, err := CacheIdentifier(kind, size)
	if err != nil {
		return "", err
	}
	return ParamsVersion + "-" + id + ".vk", nil
}

// PublishedFile is one file of Filecoin's trusted setup. Digest is the first 16 bytes of the BLAKE2b-512 of the file in
// hex, CID its address in IPFS.
type PublishedFile struct{ CID, Digest string }

// PublishedParams are the files of one circuit of Filecoin's trusted setup.
type PublishedParams struct {
	Kind       Kind
	Size       SectorSize
	Params, VK PublishedFile
}

// PublishedFor are the published files of a kind and size; false where Filecoin published none, so that parameters can
// only be made for tests.
func PublishedFor(kind Kind, size SectorSize) (PublishedParams, bool) {
	for i := range published {
		if published[i].Kind == kind && published[i].Size == size {
			return published[i], true
		}
	}
	return PublishedParams{}, false
}
