// Scratch space that the caller owns: first the sizes are counted, then the same calls hand out parts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pm {

// With a null base only the total is counted.
class Scratch {
public:
    static constexpr size_t alignment = 256;

    explicit Scratch(void* base = nullptr) : base_(static_cast<char*>(base)) {}

    template <class T>
    T* take(size_t count)
    {
        char* p = base_ ? base_ + used_ : nullptr;
        used_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
        return reinterpret_cast<T*>(p);
    }

    size_t used() const { return used_; }

private:
    char* base_;
    size_t used_ = 0;
};

}  // namespace pm
