#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/memory_resource.hpp"

namespace gpulog::backend {

/// An owning array of trivial elements, allocated from a memory resource. Fresh elements are zero unless the array is
/// constructed with fresh_memory::anything. Movable, not copyable. show() lets an array read elements of another owner;
/// growth copies the elements.
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
  /// Returns the size of the array's own memory.
  [[nodiscard]] std::uint64_t bytes() const { return is_shown_ ? 0 : capacity_ * sizeof(T); }
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
    if (is_shown_) return own(capacity);
    data_ = static_cast<T*>(resource_->resize(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
    capacity_ = capacity;
    if (size_ > capacity) size_ = capacity;
  }
  /// Replaces the contents by elements of another owner, which must stay valid and unchanged. No caller may write shown
  /// elements.
  void show(const T* elements, std::uint64_t size) {
    release();
    data_ = const_cast<T*>(elements);
    size_ = capacity_ = size;
    is_shown_ = true;
  }
  /// Copies shown elements, so that callers can write the elements.
  /// @throws memory_exceeded
  void own() {
    if (is_shown_) own(capacity_);
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
    if (data_ != nullptr && !is_shown_) resource_->deallocate(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
    is_shown_ = false;
  }
  void swap(array& other) noexcept {
    std::swap(resource_, other.resource_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(is_shown_, other.is_shown_);
  }
  [[nodiscard]] memory_resource& resource() const { return *resource_; }

 private:
  void own(std::uint64_t capacity) {
    array copy(*resource_, capacity, capacity > size_ ? fresh_memory::zeroed : fresh_memory::anything);
    copy.size_ = std::min(size_, capacity);
    std::copy_n(data_, copy.size_, copy.data_);
    swap(copy);
  }

  memory_resource* resource_ = nullptr;
  T* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t capacity_ = 0;
  bool is_shown_ = false;  ///< whether the elements belong to another owner
};

}  // namespace gpulog::backend
