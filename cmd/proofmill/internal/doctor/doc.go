// Package doctor looks at a machine and says whether Proofmill can work there: each [Check] has a status, a text, and where something is
// wrong a line that says what to do. Checks change nothing but the cache of test parameters, which the self-proof fills.
//
// What checks look at comes in from outside, as a file system, a directory, an address or an interface, so that each is tested on
// machines that are not at hand.
package doctor
