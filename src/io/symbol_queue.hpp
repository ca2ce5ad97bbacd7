#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string_view>
#include <utility>

#include "io/files/byte_buffer.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "support/ids.hpp"

/// Interning of symbols while a file is read.
namespace gpulog::io {

/// Texts that differ from the input: values with doubled quotes, numbers as symbols. Kept until interning ends.
class unquoted_texts {
 public:
  std::string_view keep(std::string_view text) {
    if (short_.empty() || short_.back().size() + text.size() > chunk_bytes) short_.emplace_back().reserve(chunk_bytes);
    byte_buffer& chunk = short_.back();
    const std::size_t begin = chunk.size();
    chunk.append(text);
    return chunk.bytes().substr(begin);
  }
  /// May empty the buffer: long texts are not copied.
  std::string_view keep(byte_buffer& text) {
    return text.size() > chunk_bytes ? long_.emplace_back(std::move(text)).bytes() : keep(text.bytes());
  }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
  std::deque<byte_buffer> short_;
  std::deque<byte_buffer> long_;
};

/// Assigns final numbers immediately.
class immediate_interner {
 public:
  static constexpr bool is_immediate = true;
  explicit immediate_interner(storage::symbol_table& symbols) : symbols_(symbols) {}
  storage::symbol_table& table() { return symbols_; }
  word intern_unquoted(std::string_view text) { return symbols_.intern(text); }
  word intern_unquoted(const byte_buffer& text) { return symbols_.intern(text.bytes()); }

 private:
  storage::symbol_table& symbols_;
};

/// Assigns numbers or marks in one part of a load.
class bulk_interner {
 public:
  static constexpr bool is_immediate = false;
  bulk_interner(storage::bulk_interning::part& symbols, unquoted_texts& unquoted)
      : symbols_(symbols), unquoted_(unquoted) {}
  storage::bulk_interning::part& table() { return symbols_; }
  template <class Text>
  word intern_unquoted(Text& text) {
    return symbols_.intern(unquoted_.keep(text));
  }

 private:
  storage::bulk_interning::part& symbols_;
  unquoted_texts& unquoted_;
};

/// Symbols that wait for their numbers. Looking up a batch of symbols overlaps the waits for memory.
template <class Interner>
class symbol_queue {
 public:
  explicit symbol_queue(Interner interner) : interner_(interner) {}

  void add(std::string_view text, word& target) {
    if (count_ == capacity) flush();
    const storage::symbol_table::key where = storage::symbol_table::key_of(text);
    interner_.table().prefetch_slot(where);
    waiting_[count_++] = {text, where, &target, nullptr};
  }

  auto& table() { return interner_.table(); }

  /// Adds a symbol with the same number as an earlier symbol.
  void add_same(const word& earlier, word& target) {
    if (count_ == capacity) flush();
    waiting_[count_++] = {{}, {}, &target, &earlier};
  }

  /// Adds a text, or a buffer, which may be emptied.
  template <class Text>
  void add_unquoted(Text& text, word& target) {
    flush();
    target = interner_.intern_unquoted(text);
  }

  /// Assigns numbers in the order of adding.
  void flush() {
    auto& table = interner_.table();
    for (std::size_t i = 0; i < count_; ++i) {
      if (waiting_[i].same_as == nullptr) table.prefetch_entry(waiting_[i].where);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (waiting_[i].same_as == nullptr) table.prefetch_text(waiting_[i].where);
    }
    for (std::size_t i = 0; i < count_; ++i) {
      const waiting_symbol& each = waiting_[i];
      *each.target = each.same_as == nullptr ? table.intern(each.text, each.where) : *each.same_as;
    }
    count_ = 0;
  }

 private:
  static constexpr std::size_t capacity = 32;
  struct waiting_symbol {
    std::string_view text;
    storage::symbol_table::key where;
    word* target;
    const word* same_as;
  };

  Interner interner_;
  std::array<waiting_symbol, capacity> waiting_;
  std::size_t count_ = 0;
};

}  // namespace gpulog::io
