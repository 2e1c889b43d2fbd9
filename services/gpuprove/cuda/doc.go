// Package cuda is the backend that proves on NVIDIA GPUs with package gpu. Each device holds the circuits and keys that its memory has
// room for; those used longest ago leave first. A partition goes to a device that holds its key if one is idle, else to the device
// with the least to do.
//
// A device that had a fault is not used again by this process: its work fails with the code device_lost, so that other workers take
// it, and the process should be started anew.
package cuda
