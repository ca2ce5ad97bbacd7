#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "storage/symbols/symbol_table.hpp"
#include "support/ids.hpp"

/// Interning of symbols while a file is read.
namespace gpulog::io {

/// Assigns final numbers immediately.
class immediate_interner {
 public:
  static constexpr bool is_immediate = true;
  explicit immediate_interner(storage::symbol_table& symbols) : symbols_(symbols) {}
  storage::symbol_table& table() { return symbols_; }

 private:
  storage::symbol_table& symbols_;
};

/// Assigns numbers in one part of a load, which the end of the load replaces.
class ordered_interner {
 public:
  static constexpr bool is_immediate = false;
  explicit ordered_interner(storage::ordered_interning::part& symbols) : symbols_(symbols) {}
  storage::ordered_interning::part& table() { return symbols_; }

 private:
  storage::ordered_interning::part& symbols_;
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

  /// Adds a text that is valid only during the call.
  void add_unquoted(std::string_view text, word& target) {
    flush();
    target = interner_.table().intern(text);
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
