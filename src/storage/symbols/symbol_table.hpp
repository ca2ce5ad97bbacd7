#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/array.hpp"
#include "support/ids.hpp"

namespace gpulog::storage {

/// Calls work(0) .. work(count-1) in any order, possibly concurrently, and returns after all calls.
using parallel_runner = std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

/// Texts and their numbers: 0, 1, 2, .. in the order in which they were first interned.
///
/// A text is stored once, with 8 bytes for its length and the mapping from its number, and 12 to 23 bytes of hash
/// table. intern, find and text are thread-safe; find and text take no lock. Numbers assigned by concurrent calls of
/// intern depend on timing; use ordered_interning if they must not.
class symbol_table {
 public:
  /// Numbers are less than this, so that each is its own code in 64-bit programs (wide_values.hpp).
  static constexpr std::uint64_t max_symbols = std::uint64_t{1} << 31;

  /// @param memory the source of all memory that grows with the texts
  explicit symbol_table(backend::memory_resource& memory = backend::unlimited_memory());
  /// Starts with the given distinct texts: constants[i] has number i.
  explicit symbol_table(std::span<const std::string> constants,
                        backend::memory_resource& memory = backend::unlimited_memory());
  ~symbol_table();
  symbol_table(const symbol_table&) = delete;
  symbol_table& operator=(const symbol_table&) = delete;

  /// The position of a text in the table.
  struct key {
    std::uint32_t tag;
    std::uint32_t shard_number;
  };
  static key key_of(std::string_view text);

  /// Returns the number of the text; assigns a number to a new text.
  /// @throws user_error when the table is full or the text is longer than 4 GiB, backend::memory_exceeded; the table is
  ///   then unchanged
  word intern(std::string_view text) { return intern(text, key_of(text)); }
  /// Like intern(text), for a known key.
  word intern(std::string_view text, key where);
  /// Returns the number of the text whose bytes write(begin) assembles. A long text is assembled in the memory that the
  /// table keeps: no second copy exists.
  /// @throws like intern()
  template <class Write>
  word intern_assembled(std::uint64_t bytes, Write&& write) {
    require_length(bytes);
    if (bytes < least_separate_bytes) {
      std::string text(static_cast<std::size_t>(bytes), '\0');
      write(text.data());
      return intern(text);
    }
    backend::array<char> block(*memory_, sizeof(std::uint32_t) + bytes, backend::fresh_memory::anything);
    const std::string_view text = store_length(block.data(), static_cast<std::uint32_t>(bytes));
    write(block.data() + sizeof(std::uint32_t));
    const key where = key_of(text);
    if (const std::optional<word> known = find(text, where)) return *known;
    return insert(text, where, std::move(block));
  }
  /// @throws user_error for a text that is too long to be stored
  static void require_length(std::uint64_t bytes);

  /// A lookup waits for memory three times, each time for an address from the previous wait. For many texts, call these
  /// functions for all texts, one function after another, so that the waits overlap.
  void prefetch_slot(key where) const;
  void prefetch_entry(key where) const;
  void prefetch_text(key where) const;

  /// Returns the number of the text, if it has one.
  [[nodiscard]] std::optional<word> find(std::string_view text) const;
  /// Returns the text of a number from intern(); valid as long as the table.
  [[nodiscard]] std::string_view text(word id) const;
  /// Returns the number of texts.
  [[nodiscard]] std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
  /// Returns the allocated memory in bytes.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Frees hash tables that were outgrown. No other thread may use the symbol table meanwhile.
  void free_outgrown();

 private:
  friend class ordered_interning;

  static constexpr unsigned shard_bits = 6;
  static constexpr std::size_t shard_count = std::size_t{1} << shard_bits;
  static constexpr unsigned first_segment_bits = 10;
  static constexpr std::size_t segment_count = 32 - first_segment_bits;
  static constexpr std::size_t largest_block_bytes = 64 * 1024;
  static constexpr std::size_t least_separate_bytes = largest_block_bytes / 4;

  /// Open addressing over 8-byte slots: tag in the upper half, number + 1 in the lower half; 0 is an empty slot. The
  /// tag also determines the position, so that growing never reads a text.
  struct slot_array {
    slot_array(backend::memory_resource& memory, std::size_t capacity);
    std::size_t mask;
    backend::array<std::atomic<std::uint64_t>> slots;
  };

  /// Held for the insertion of one text, so that waiting in the kernel would take longer.
  class short_lock {
   public:
    void lock() {
      while (is_held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    void unlock() { is_held_.clear(std::memory_order_release); }

   private:
    std::atomic_flag is_held_;
  };

  struct alignas(64) shard {
    std::atomic<slot_array*> current{nullptr};
    alignas(64) short_lock inserting;  // beside what lookups do not read
    std::size_t used = 0;
    std::unique_ptr<slot_array> owner;
    /// Tables that concurrent readers may still be looking at (free_outgrown()).
    std::vector<std::unique_ptr<slot_array>> retired;
    std::vector<backend::array<char>> blocks;
    std::size_t block_bytes = 0;
    char* free_begin = nullptr;
    char* free_end = nullptr;
  };

  struct entry_place {
    std::size_t segment;
    std::size_t offset;
  };
  static entry_place place_of(std::uint64_t id);

  [[nodiscard]] std::optional<word> find(std::string_view text, key where) const;
  /// @param block where the text is stored already, or an empty array
  word insert(std::string_view text, key where, backend::array<char> block = {});
  /// Returns the number of the first text with the tag.
  [[nodiscard]] std::optional<word> first_number(key where) const;
  /// Returns the entry of this text, or nullptr.
  [[nodiscard]] const char** first_entry(key where) const;
  /// Makes room for a further text.
  void make_room(shard& owner);
  /// Requires sufficient room.
  static void insert_slot(shard& owner, std::uint32_t tag, word id);
  /// Returns the slot of a number that has one.
  [[nodiscard]] std::atomic<std::uint64_t>& slot_of(key where, word id);
  char* allocate_text(shard& owner, std::size_t bytes);
  static std::size_t stored_bytes(std::string_view text) { return sizeof(std::uint32_t) + text.size(); }
  static void store_text(char* where, std::string_view text);
  /// Returns the text after the length.
  static std::string_view store_length(char* where, std::uint32_t length);
  [[nodiscard]] const char* entry(std::uint64_t id) const;
  void set_entry(std::uint64_t id, const char* stored);
  /// Allocates entries for the numbers begin .. end-1.
  void ensure_segments(std::uint64_t begin, std::uint64_t end);
  [[noreturn]] static void report_full();

  backend::memory_resource* memory_;
  std::array<shard, shard_count> shards_;
  /// Segment k holds the entries of 2^(k + first_segment_bits) consecutive numbers, so that growth moves no entries.
  std::array<std::atomic<const char**>, segment_count> segments_{};
  std::array<backend::array<const char*>, segment_count> segment_memory_;
  std::mutex growing_segments_;
  std::atomic<std::uint64_t> size_{0};
};

/// Interns texts on many threads with the same numbers as on a single thread.
///
/// The texts of a load are split into parts. Each part is filled by one thread, different parts concurrently. Numbers
/// of new texts depend on timing until finish() replaces them by the numbers in order of first occurrence: a part
/// numbers the positions of its texts, beginning with the position of the part, and the table records the smallest
/// position of each new text. No other code may intern between construction and finish(). Without finish() the table
/// is consistent, but keeps numbers that depend on timing.
class ordered_interning {
 public:
  explicit ordered_interning(symbol_table& table);
  ordered_interning(const ordered_interning&) = delete;
  ordered_interning& operator=(const ordered_interning&) = delete;

  class part {
   public:
    part(ordered_interning& all, std::uint64_t position) : all_(&all), position_(position) {}
    /// Returns a number for resolve(); copies a new text.
    word intern(std::string_view text) { return intern(text, symbol_table::key_of(text)); }
    word intern(std::string_view text, symbol_table::key where) {
      const word number = all_->table_.intern(text, where);
      if (number >= all_->first_number_) note(number, where);
      ++next_;
      return number;
    }
    /// Like the functions of symbol_table.
    void prefetch_slot(symbol_table::key where) const { all_->table_.prefetch_slot(where); }
    void prefetch_entry(symbol_table::key where) const { all_->table_.prefetch_entry(where); }
    void prefetch_text(symbol_table::key where) const {
      all_->table_.prefetch_text(where);
      all_->prefetch_position(where);
    }

   private:
    friend class ordered_interning;

    /// A new text that had no earlier position when the part reached it.
    struct candidate {
      word number;
      std::uint32_t place;  ///< relative to the part's position
      symbol_table::key where;
    };
    void note(word number, symbol_table::key where);
    [[nodiscard]] bool is_first(const candidate& text) const;

    ordered_interning* all_;
    std::uint64_t position_;
    std::uint32_t next_ = 0;
    std::vector<candidate> candidates_;
    std::uint64_t firsts_ = 0;        ///< number of new texts that occur first in this part
    std::uint64_t first_number_ = 0;  ///< of these texts
  };

  /// Adds a part; thread-safe. The position orders parts: a part with n texts, at most 2^32, takes n positions.
  [[nodiscard]] part& add_part(std::uint64_t position);
  /// Numbers all new texts; called at most once, after all parts are filled.
  /// @throws backend::memory_exceeded
  void finish(const parallel_runner& run);
  /// Whether finish() has replaced any number.
  [[nodiscard]] bool has_replaced() const { return has_replaced_.load(std::memory_order_relaxed); }
  /// Returns the final number; valid after finish().
  [[nodiscard]] word resolve(word number) const {
    return number < first_number_ || !has_replaced() ? number : numbers_[number - first_number_];
  }
  void resolve(word* numbers, std::uint64_t count) const {
    for (std::uint64_t at = 0; at < count; ++at) numbers[at] = resolve(numbers[at]);
  }

 private:
  using position_array = backend::array<std::atomic<std::uint64_t>>;

  /// Complement of the smallest position of a new text; 0: none. Complements, because fresh memory is zero.
  [[nodiscard]] std::atomic<std::uint64_t>& position_of(word number);
  void prefetch_position(symbol_table::key where) const;
  std::atomic<std::uint64_t>* allocate_segment(std::size_t segment);
  /// What a new text has to change when its number changes.
  struct stored_text {
    const char* text;
    std::atomic<std::uint64_t>* slot;
  };
  void number_part(part& here);
  void replace_numbers(const std::vector<part*>& parts, std::uint64_t count, const parallel_runner& run);

  symbol_table& table_;
  std::uint64_t first_number_;
  std::mutex growing_;
  std::deque<part> parts_;
  /// Segments as in symbol_table, by number - first_number_.
  std::array<std::atomic<std::atomic<std::uint64_t>*>, symbol_table::segment_count> segments_{};
  std::array<position_array, symbol_table::segment_count> segment_memory_;
  backend::array<word> numbers_;
  std::atomic<bool> has_replaced_{false};
};

}  // namespace gpulog::storage
