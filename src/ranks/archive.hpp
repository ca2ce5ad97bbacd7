#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "support/error.hpp"
#include "support/ids.hpp"
#include "support/long_vector.hpp"

/// Values as bytes, for other ranks of the same version. A struct has a specialization of fields_of.
namespace gpulog::ranks {

/// Specializations have a static function of(value) that returns std::tie of all fields to transfer.
template <class T>
struct fields_of;

template <class T>
inline constexpr bool is_plain_value = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Appends values to a text.
class archive_writer {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (write(values), ...);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void write(const T& value) {
    if constexpr (is_plain_value<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      std::apply(*this, fields_of<T>::of(value));
    }
  }
  void write(const std::string& text) {
    write(std::uint64_t{text.size()});
    bytes_ += text;
  }
  template <class Tag>
  void write(const strong_id<Tag>& id) {
    write(id.value);
  }
  template <class T>
  void write(const std::vector<T>& values) {
    write(std::uint64_t{values.size()});
    for (const T& value : values) write(value);
  }
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <class Key, class T>
  void write(const std::map<Key, T>& values) {
    write(std::uint64_t{values.size()});
    for (const auto& [key, value] : values) (*this)(key, value);
  }
  template <class... T>
  void write(const std::variant<T...>& value) {
    write(static_cast<std::uint8_t>(value.index()));
    std::visit(*this, value);
  }

  std::string bytes_;
};

/// Reads what archive_writer wrote, in the same order.
class archive_reader {
 public:
  /// @param bytes must outlive the reader
  explicit archive_reader(std::string_view bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (read(values), ...);
  }

 private:
  template <class T>
  void read(T& value) {
    if constexpr (is_plain_value<T>) {
      std::memcpy(&value, take(sizeof(value)), sizeof(value));
    } else {
      std::apply(*this, fields_of<T>::of(value));
    }
  }
  void read(std::string& text) {
    const std::size_t size = read_size();
    text.assign(take(size), size);
  }
  template <class Tag>
  void read(strong_id<Tag>& id) {
    read(id.value);
  }
  template <class T>
  void read(std::vector<T>& values) {
    values.assign(read_size(), T());
    for (T& value : values) read(value);
  }
  template <class T>
  void read(std::optional<T>& value) {
    bool has_value = false;
    read(has_value);
    value.reset();
    if (has_value) read(value.emplace());
  }
  template <class Key, class T>
  void read(std::map<Key, T>& values) {
    values.clear();
    for (std::size_t left = read_size(); left > 0; --left) {
      Key key;
      read(key);
      read(values[key]);
    }
  }
  template <class... T>
  void read(std::variant<T...>& value) {
    std::uint8_t index = 0;
    read(index);
    read_alternative<0>(value, index);
  }
  template <std::size_t Index, class... T>
  void read_alternative(std::variant<T...>& value, std::uint8_t index) {
    if constexpr (Index < sizeof...(T)) {
      if (index == Index) return read(value.template emplace<Index>());
      read_alternative<Index + 1>(value, index);
    } else {
      throw internal_error("a message between ranks has an unknown alternative");
    }
  }

  [[nodiscard]] std::size_t read_size() {
    std::uint64_t size = 0;
    read(size);
    return memory_size(size);
  }
  [[nodiscard]] const char* take(std::size_t size) {
    if (size > bytes_.size()) throw internal_error("a message between ranks is too short");
    const char* const begin = bytes_.data();
    bytes_.remove_prefix(size);
    return begin;
  }

  std::string_view bytes_;
};

}  // namespace gpulog::ranks
