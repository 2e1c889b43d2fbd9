package gpu

// alignment is that of every array in device memory, in bytes.
const alignment = 256

// arena plans arrays in one buffer: first each is added, then the buffer is made with the arena's size.
type arena struct{ size int64 }

// add gives the offset of an array of n bytes.
func (a *arena) add(n int64) int64 {
	at := a.size
	a.size += (n + alignment - 1) / alignment * alignment
	return at
}
