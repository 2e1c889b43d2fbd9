// Clocks and watts while something runs, by NVML loaded at run time.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace pm::bench {

// Samples every 20 ms between start and stop. Without NVML all readings are zero.
class Meter {
public:
    struct Reading {
        double sm_mhz = 0, memory_mhz = 0, watts = 0, watts_max = 0;
        int samples = 0;
    };

    Meter()
    {
        library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        if (!library_) return;
        const auto init = (int (*)())dlsym(library_, "nvmlInit_v2");
        const auto handle = (int (*)(unsigned, void**))dlsym(library_, "nvmlDeviceGetHandleByIndex_v2");
        clock_ = (int (*)(void*, int, unsigned*))dlsym(library_, "nvmlDeviceGetClockInfo");
        power_ = (int (*)(void*, unsigned*))dlsym(library_, "nvmlDeviceGetPowerUsage");
        if (!init || !handle || !clock_ || !power_ || init() != 0 || handle(0, &device_) != 0) device_ = nullptr;
    }
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    void start()
    {
        reading_ = {};
        if (!device_) return;
        running_ = true;
        thread_ = std::thread([this] {
            while (running_) {
                unsigned sm = 0, memory = 0, milliwatts = 0;
                clock_(device_, 1, &sm);
                clock_(device_, 2, &memory);
                power_(device_, &milliwatts);
                reading_.sm_mhz += sm;
                reading_.memory_mhz += memory;
                reading_.watts += milliwatts / 1000.0;
                if (milliwatts / 1000.0 > reading_.watts_max) reading_.watts_max = milliwatts / 1000.0;
                reading_.samples++;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        });
    }

    Reading stop()
    {
        if (thread_.joinable()) {
            running_ = false;
            thread_.join();
        }
        Reading r = reading_;
        if (r.samples) {
            r.sm_mhz /= r.samples;
            r.memory_mhz /= r.samples;
            r.watts /= r.samples;
        }
        return r;
    }

private:
    void* library_ = nullptr;
    void* device_ = nullptr;
    int (*clock_)(void*, int, unsigned*) = nullptr;
    int (*power_)(void*, unsigned*) = nullptr;
    std::thread thread_;
    std::atomic<bool> running_{false};
    Reading reading_;
};

}  // namespace pm::bench
