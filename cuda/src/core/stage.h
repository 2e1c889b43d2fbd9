// Named stages: an NVTX range for profilers, the name in error texts, and a pair of events whose
// distance becomes a span of the trace.
#pragma once

#include <cuda_runtime_api.h>
#include <nvtx3/nvToolsExt.h>

#include <string>
#include <vector>

#include "core/error.h"

namespace pm {

// Collects the device times of the stages of one operation. Not thread-safe; one per stream.
class StageTimes {
public:
    StageTimes() = default;
    StageTimes(const StageTimes&) = delete;
    StageTimes& operator=(const StageTimes&) = delete;
    ~StageTimes()
    {
        for (auto& e : entries_) {
            cudaEventDestroy(e.start);
            cudaEventDestroy(e.stop);
        }
    }

    struct Entry {
        const char* name;
        cudaEvent_t start, stop;
    };

    size_t begin(const char* name, cudaStream_t stream)
    {
        if (used_ == entries_.size()) {
            Entry e{name, nullptr, nullptr};
            PM_CUDA(cudaEventCreate(&e.start));
            PM_CUDA(cudaEventCreate(&e.stop));
            entries_.push_back(e);
        }
        entries_[used_].name = name;
        PM_CUDA(cudaEventRecord(entries_[used_].start, stream));
        return used_++;
    }

    void end(size_t i, cudaStream_t stream) { (void)cudaEventRecord(entries_[i].stop, stream); }

    void clear() { used_ = 0; }
    size_t size() const { return used_; }
    const char* name(size_t i) const { return entries_[i].name; }

    // Milliseconds; the stream must have passed the stage's end.
    float milliseconds(size_t i) const
    {
        float ms = 0;
        PM_CUDA(cudaEventElapsedTime(&ms, entries_[i].start, entries_[i].stop));
        return ms;
    }

private:
    std::vector<Entry> entries_;
    size_t used_ = 0;
};

// The scope of a stage. times may be null.
class Stage {
public:
    Stage(const char* name, StageTimes* times, cudaStream_t stream) : times_(times), stream_(stream), outer_(current_stage())
    {
        current_stage() = name;
        nvtxRangePushA(name);
        if (times_) index_ = times_->begin(name, stream);
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage()
    {
        if (times_) times_->end(index_, stream_);
        nvtxRangePop();
        current_stage() = outer_;
    }

private:
    StageTimes* times_;
    cudaStream_t stream_;
    const char* outer_;
    size_t index_ = 0;
};

}  // namespace pm
