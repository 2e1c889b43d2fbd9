// A few CUDA streams for the parts of one operation: the caller's, and others beside it. While one part
// is bound by memory another can use the multipliers.
#pragma once

#include "core/error.h"

namespace pm {

// Makes its own side streams and events on the current device. Used by one thread at a time.
class Lanes {
public:
    static constexpr int count = 3;      // for equal parts
    static constexpr int ahead = count;  // one more, for what prepares the next step

    explicit Lanes(cudaStream_t main) : streams_{main}
    {
        for (int i = 1; i < total; i++) PM_CUDA(cudaStreamCreateWithFlags(&streams_[i], cudaStreamNonBlocking));
        for (cudaEvent_t& e : events_) PM_CUDA(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    }
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;
    ~Lanes()
    {
        for (cudaEvent_t e : events_) (void)cudaEventDestroy(e);
        for (int i = 1; i < total; i++) (void)cudaStreamDestroy(streams_[i]);
    }

    cudaStream_t main() const { return streams_[0]; }
    cudaStream_t at(int lane) const { return streams_[lane]; }

    // What lane `after` is given from now on starts when lane `before` has done what it was given so far.
    void order(int before, int after) const
    {
        if (before == after) return;
        PM_CUDA(cudaEventRecord(events_[before], streams_[before]));
        PM_CUDA(cudaStreamWaitEvent(streams_[after], events_[before], 0));
    }

    // All equal lanes after the main one, and the main one after all of them.
    void fork() const
    {
        for (int i = 1; i < count; i++) order(0, i);
    }
    void join() const
    {
        for (int i = 1; i < count; i++) order(i, 0);
    }

private:
    static constexpr int total = count + 1;
    cudaStream_t streams_[total];
    cudaEvent_t events_[total] = {};
};

}  // namespace pm
