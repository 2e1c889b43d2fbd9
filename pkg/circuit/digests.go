package circuit

import "github.com/proofmill/proofmill/pkg/filecoin"

// digests are the digests of circuits as the reference builds them. A system that is built here has
// the same one, which the tests show for each; knowing them spares computing them at every start.
var digests = map[filecoin.Kind]map[filecoin.SectorSize]string{
	filecoin.PoRep: {
		filecoin.Size2KiB:  "a0d24096c85a35338f5ff586cde147962a9a7e321cf463b0e6ac5feedab70f44",
		filecoin.Size16KiB: "c1077c0f6d878787b424d26cfe977d62f5524803485dc3a273ade77322bf5e73",
		filecoin.Size32KiB: "e4ca26840c6fbeb0d9303b80981382cedfb4bd503c8bd1833ad520b4746b0747",
		filecoin.Size8MiB:  "3cd46b523316c27ebbc0545f141ad86e22dc4899f68cca49023bdf85f19d2fc5",
		filecoin.Size32GiB: "ac54db89afabea25ea6761e274d2ead0c211e1135ada2d162087753df0e6cbdb",
		filecoin.Size64GiB: "f7dce1140ed74d3dc68ae97fcde8a7ed44494e9e630d20108e4560bc26ad4758",
	},
	filecoin.Winning: {
		filecoin.Size2KiB:  "89c487058c712f0046ebc0e051c0a65e97c3875306f130a7da938e7ac1da97e2",
		filecoin.Size16KiB: "11c2f01cc61fba62fe29815df6df2816f903cee8f749fdf7387658766db7a977",
		filecoin.Size32KiB: "102d417166f6212bfa78a63825acb853739b5c96fd3770b9738d2f36c52edbf8",
		filecoin.Size8MiB:  "301a43b21d8a0d136339ec7dfb8e8868e3533adba97a174a7d3718dc4e9434b1",
		filecoin.Size32GiB: "c33b0275e3e354421399f09aa2aced9f88afd76d1b20cdda7afe598081ba19eb",
		filecoin.Size64GiB: "d950c5147d4caebf32d91a884b4b565a054a7f60db1121e1b965bd8602f4e07b",
	},
	filecoin.Window: {
		filecoin.Size2KiB:  "25c591899aa06162be571832bc08271b7d4c9182a8b9c978bc567c9b21d16d5f",
		filecoin.Size16KiB: "c377854d74f99e8b68b5fc554ef102bb84bfa96009276dd605d58bdd9eba23bc",
		filecoin.Size32KiB: "19691b23be06ad51ebc7089147bb49bd752e62b6299eca117770de614e05e3d3",
		filecoin.Size8MiB:  "559a02acd329e42542b9c5f8ba538e42a99596d35034eed44b92fc8d397979e0",
		filecoin.Size32GiB: "510439a8a2b04551d4a737befb98664694483502ae101009b0c60e5d58cbca42",
	},
	filecoin.Update: {
		filecoin.Size2KiB:  "6ce03470e7bf01d543f1bf4a120148ef09903dd733354a54dfc15b4612c581d3",
		filecoin.Size16KiB: "e569b5a4b30536df19aa5dbdb907a1a78787ad3640c7bcd7719c57149f941c48",
		filecoin.Size32KiB: "71479ae55e58a1305b31c0e10e4636012c425b52aa2639ff8cbf1bbf9f46d1d1",
		filecoin.Size8MiB:  "dec2778821c875d3f97ee553f6d954c6783834fefb03c3b2088077e84af58b7d",
		filecoin.Size32GiB: "e3a13209b7bfca28c081d819508e0c5b5fad6cca3dd5e7fc9982a1ab8788bf22",
	},
}

// KnownDigest is the digest of a circuit where it is known without building and digesting it.
func KnownDigest(kind filecoin.Kind, size filecoin.SectorSize) (string, bool) {
	d, ok := digests[kind][size]
	return d, ok
}
