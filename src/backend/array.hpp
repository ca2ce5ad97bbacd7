#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/memory_resource.hpp"

namespace gpulog::backend {

/// An owning array of trivial elements, allocated from a memory resource. Fresh elements are zero unless the array is
/// constructed with fresh_memory::anything. Movable, not copyable.
template <class T>
class array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  array() = default;
  explicit array(memory_resource& resource) : resource_(&resource) {}
  array(memory_resource& resource, std::uint64_t size, fresh_memory contents = fresh_memory::zeroed)
      : resource_(&resource) {
    data_ = static_cast<T*>(resource.allocate(size * sizeof(T), contents));
    size_ = capacity_ = size;
  }
  array(const array&) = delete;
  array& operator=(const array&) = delete;
  array(array&& other) noexcept { swap(other); }
  array& operator=(array&& other) noexcept {
    array taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~array() { release(); }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t bytes() const { return capacity_ * sizeof(T); }
  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  T& operator[](std::uint64_t i) { return data_[i]; }
  const T& operator[](std::uint64_t i) const { return data_[i]; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }

  /// Sets the capacity exactly and keeps the elements that fit.
  /// @throws memory_exceeded
  void set_capacity(std::uint64_t capacity) {
    if (capacity == capacity_) return;
    data_ = static_cast<T*>(resource_->resize(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
    capacity_ = capacity;
    if (size_ > capacity) size_ = capacity;
  }
  void reserve(std::uint64_t capacity) {
    if (capacity > capacity_) set_capacity(capacity);
  }
  void resize(std::uint64_t size) {
    reserve(size);
    size_ = size;
  }
  /// Like resize(), for elements that are overwritten: all elements have arbitrary contents.
  /// @param capacity of a new allocation, at least
  void renew(std::uint64_t size, std::uint64_t capacity = 0) {
    if (capacity_ < size) {
      release();
      capacity = std::max(size, capacity);
      data_ = static_cast<T*>(resource_->allocate(capacity * sizeof(T), fresh_memory::anything));
      capacity_ = capacity;
    }
    size_ = size;
  }
  void push_back(T value) {
    if (size_ == capacity_) set_capacity(capacity_ == 0 ? 16 : capacity_ * 2);
    data_[size_++] = value;
  }
  void release() {
    if (data_ != nullptr) resource_->deallocate(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }
  void swap(array& other) noexcept {
    std::swap(resource_, other.resource_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  [[nodiscard]] memory_resource& resource() const { return *resource_; }

 private:
  memory_resource* resource_ = nullptr;
  T* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t capacity_ = 0;
};

}  // namespace gpulog::backend
