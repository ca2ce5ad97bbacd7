#include "storage/symbols/symbol_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "support/error.hpp"

namespace gpulog::storage {
namespace {

constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t first_capacity = 32;
constexpr std::size_t first_block_bytes = 1024;
constexpr std::size_t largest_block_bytes = 64 * 1024;

/// Returns whether at most 2 of 3 slots would be used.
constexpr bool has_slots(std::size_t texts, std::size_t capacity) { return 3 * texts <= 2 * capacity; }

std::uint64_t load_word(const char* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t load_half_word(const char* from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

__extension__ using wide = unsigned __int128;

/// Folds both halves of a 64x64 bit product: the only mixing step of the hash.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const wide product = static_cast<wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t key_0 = 0x9e3779b97f4a7c15;
constexpr std::uint64_t key_1 = 0xc2b2ae3d27d4eb4f;
constexpr std::uint64_t key_2 = 0xd6e8feb86659fd93;

std::uint64_t hash_bytes(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t state = key_0 ^ (left * key_1);
  if (left > 16) {
    std::uint64_t other = state;
    for (; left > 32; at += 32, left -= 32) {
      state = fold(load_word(at) ^ key_0, load_word(at + 8) ^ state);
      other = fold(load_word(at + 16) ^ key_1, load_word(at + 24) ^ other);
    }
    if (left > 16) state = fold(load_word(at) ^ key_0, load_word(at + 8) ^ state);
    // The last 16 bytes may overlap earlier bytes.
    return fold(fold(load_word(at + left - 16) ^ key_2, load_word(at + left - 8) ^ state), other ^ key_1);
  }
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (left >= 8) {
    low = load_word(at);
    high = load_word(at + left - 8);
  } else if (left >= 4) {
    low = load_half_word(at);
    high = load_half_word(at + left - 4);
  } else if (left > 0) {
    const auto byte = [&](std::size_t position) {
      return static_cast<std::uint64_t>(static_cast<unsigned char>(at[position]));
    };
    low = (byte(0) << 16) | (byte(left / 2) << 8) | byte(left - 1);
  }
  return fold(fold(low ^ key_1, high ^ state), key_2);
}

std::string_view stored_text(const char* stored) {
  std::uint32_t length;
  std::memcpy(&length, stored, sizeof length);
  return {stored + sizeof length, length};
}

std::uint64_t slot_value(std::uint32_t tag, std::uint64_t lower) { return (std::uint64_t{tag} << 32) | lower; }
std::uint32_t slot_tag(std::uint64_t slot) { return static_cast<std::uint32_t>(slot >> 32); }
std::uint32_t slot_lower(std::uint64_t slot) { return static_cast<std::uint32_t>(slot); }

}  // namespace

symbol_table::slot_array::slot_array(backend::memory_resource& memory, std::size_t capacity)
    : mask(capacity - 1), slots(memory, capacity) {}

symbol_table::symbol_table(backend::memory_resource& memory) : memory_(&memory) {}

symbol_table::symbol_table(std::span<const std::string> constants, backend::memory_resource& memory)
    : memory_(&memory) {
  for (const std::string& constant : constants) intern(constant);
}

symbol_table::~symbol_table() = default;

void symbol_table::require_length(std::uint64_t bytes) {
  if (bytes <= UINT32_MAX) return;
  throw user_error("a symbol of " + std::to_string(bytes) + " bytes is too long: the limit is 4 GiB");
}

symbol_table::key symbol_table::key_of(std::string_view text) {
  const std::uint64_t bits = hash_bytes(text);
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> (64 - shard_bits))};
}

symbol_table::entry_place symbol_table::place_of(std::uint64_t id) {
  const std::uint64_t place = id + (std::uint64_t{1} << first_segment_bits);
  const auto top_bit = static_cast<unsigned>(std::bit_width(place)) - 1;
  return {top_bit - first_segment_bits, static_cast<std::size_t>(place - (std::uint64_t{1} << top_bit))};
}

/// Returns the text; empty for numbers without a text, which casts may produce.
std::string_view symbol_table::text(word id) const {
  const entry_place place = place_of(id);
  if (place.segment >= segment_count) return {};
  const char** segment = segments_[place.segment].load(std::memory_order_acquire);
  if (segment == nullptr) return {};
  const char* const stored = std::atomic_ref<const char*>(segment[place.offset]).load(std::memory_order_acquire);
  return stored == nullptr ? std::string_view() : stored_text(stored);
}

void symbol_table::set_entry(std::uint64_t id, const char* stored) {
  const entry_place place = place_of(id);
  const char** segment = segments_[place.segment].load(std::memory_order_acquire);
  std::atomic_ref<const char*>(segment[place.offset]).store(stored, std::memory_order_release);
}

void symbol_table::ensure_segments(std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  const std::size_t last = place_of(end - 1).segment;
  for (std::size_t number = place_of(begin).segment; number <= last; ++number) {
    auto& segment = segments_[number];
    if (segment.load(std::memory_order_acquire) != nullptr) continue;
    const std::lock_guard lock(growing_segments_);
    if (segment.load(std::memory_order_relaxed) != nullptr) continue;
    segment_memory_[number] = backend::array<const char*>(*memory_, std::uint64_t{1} << (number + first_segment_bits));
    segment.store(segment_memory_[number].data(), std::memory_order_release);
  }
}

std::optional<word> symbol_table::find(std::string_view text) const { return find(text, key_of(text)); }

std::optional<word> symbol_table::find(std::string_view text, key where) const {
  const slot_array* table = shards_[where.shard_number].current.load(std::memory_order_acquire);
  if (table == nullptr) return std::nullopt;
  for (std::size_t position = where.tag & table->mask;; position = (position + 1) & table->mask) {
    const std::uint64_t slot = table->slots[position].load(std::memory_order_acquire);
    if (slot == 0) return std::nullopt;
    if (slot_tag(slot) != where.tag) continue;
    const word id = slot_lower(slot) - 1;
    if (this->text(id) == text) return id;
  }
}

word symbol_table::intern(std::string_view text, key where) {
  if (const std::optional<word> known = find(text, where)) return *known;
  return insert(text, where);
}

void symbol_table::prefetch_slot(key where) const {
  const slot_array* table = shards_[where.shard_number].current.load(std::memory_order_acquire);
  if (table != nullptr) __builtin_prefetch(&table->slots[where.tag & table->mask]);
}

const char** symbol_table::first_entry(key where) const {
  const slot_array* table = shards_[where.shard_number].current.load(std::memory_order_acquire);
  if (table == nullptr) return nullptr;
  for (std::size_t position = where.tag & table->mask;; position = (position + 1) & table->mask) {
    const std::uint64_t slot = table->slots[position].load(std::memory_order_acquire);
    if (slot == 0) return nullptr;
    if (slot_tag(slot) != where.tag) continue;
    const entry_place place = place_of(slot_lower(slot) - 1);
    return segments_[place.segment].load(std::memory_order_acquire) + place.offset;
  }
}

void symbol_table::prefetch_entry(key where) const {
  if (const char** entry = first_entry(where)) __builtin_prefetch(entry);
}

void symbol_table::prefetch_text(key where) const {
  if (const char** entry = first_entry(where)) {
    const char* stored = std::atomic_ref<const char*>(*entry).load(std::memory_order_acquire);
    __builtin_prefetch(stored);
    __builtin_prefetch(stored + cache_line_bytes);
  }
}

word symbol_table::insert(std::string_view text, key where) {
  require_length(text.size());
  shard& owner = shards_[where.shard_number];
  const std::lock_guard lock(owner.inserting);
  // Another thread may have been faster.
  if (const std::optional<word> known = find(text, where)) return *known;
  // Allocates all memory first: on failure, no number is taken.
  make_room(owner, 1, true);
  char* storage = allocate_text(owner, stored_bytes(text));
  store_text(storage, text);
  std::uint64_t id = size_.load(std::memory_order_relaxed);
  do {
    if (id >= max_symbols) report_full();
    ensure_segments(id, id + 1);
  } while (!size_.compare_exchange_weak(id, id + 1, std::memory_order_acq_rel));
  set_entry(id, storage);
  insert_slot(owner, where.tag, static_cast<word>(id));
  return static_cast<word>(id);
}

void symbol_table::make_room(shard& owner, std::size_t texts, bool readers_possible) {
  const std::size_t capacity = owner.owner ? owner.owner->mask + 1 : 0;
  if (has_slots(owner.used + texts, capacity)) return;
  std::size_t larger_capacity = std::max(first_capacity, 2 * capacity);
  while (!has_slots(owner.used + texts, larger_capacity)) larger_capacity *= 2;
  auto larger = std::make_unique<slot_array>(*memory_, larger_capacity);
  for (std::size_t from = 0; from < capacity; ++from) {
    const std::uint64_t slot = owner.owner->slots[from].load(std::memory_order_relaxed);
    if (slot == 0) continue;
    std::size_t position = slot_tag(slot) & larger->mask;
    while (larger->slots[position].load(std::memory_order_relaxed) != 0) position = (position + 1) & larger->mask;
    larger->slots[position].store(slot, std::memory_order_relaxed);
  }
  owner.current.store(larger.get(), std::memory_order_release);
  if (readers_possible && owner.owner) owner.retired.push_back(std::move(owner.owner));
  owner.owner = std::move(larger);
}

void symbol_table::free_outgrown() {
  for (shard& each : shards_) each.retired.clear();
}

void symbol_table::insert_slot(shard& owner, std::uint32_t tag, word id) {
  slot_array& table = *owner.owner;
  std::size_t position = tag & table.mask;
  while (table.slots[position].load(std::memory_order_relaxed) != 0) position = (position + 1) & table.mask;
  table.slots[position].store(slot_value(tag, std::uint64_t{id} + 1), std::memory_order_release);
  ++owner.used;
}

char* symbol_table::allocate_text(shard& owner, std::size_t bytes) {
  if (static_cast<std::size_t>(owner.free_end - owner.free_begin) < bytes) {
    const std::size_t next = std::min(largest_block_bytes, std::max(first_block_bytes, owner.block_bytes));
    // A long text gets a separate block and leaves the room of the current block.
    const bool own_block = bytes > next / 4;
    owner.blocks.emplace_back(*memory_, own_block ? bytes : next, backend::fresh_memory::anything);
    owner.block_bytes += own_block ? bytes : next;
    if (own_block) return owner.blocks.back().data();
    owner.free_begin = owner.blocks.back().data();
    owner.free_end = owner.free_begin + next;
  }
  char* result = owner.free_begin;
  owner.free_begin += bytes;
  return result;
}

void symbol_table::store_text(char* where, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  std::memcpy(where, &length, sizeof length);
  if (length != 0) std::memcpy(where + sizeof length, text.data(), length);
}

std::uint64_t symbol_table::memory_bytes() const {
  std::uint64_t bytes = bulk_bytes_ + size() * sizeof(const char*);
  for (const shard& each : shards_) {
    bytes += each.block_bytes;
    if (const slot_array* table = each.current.load(std::memory_order_acquire)) bytes += (table->mask + 1) * 8;
  }
  return bytes;
}

void symbol_table::report_full() {
  throw user_error("the symbol table is full: more than " + std::to_string(max_symbols) + " different symbols");
}

bulk_interning::bulk_interning(symbol_table& table, std::size_t parts) : table_(table), parts_(parts) {
  for (part& each : parts_) each.table_ = &table;
  // No other thread interns during a load, so no thread can still read an old table.
  table.free_outgrown();
}

bulk_interning::~bulk_interning() = default;

void bulk_interning::part::prefetch_slot(symbol_table::key where) const {
  table_->prefetch_slot(where);
  if (!slots_.empty()) __builtin_prefetch(&slots_[where.tag & (slots_.size() - 1)]);
}

word bulk_interning::part::intern(std::string_view text, symbol_table::key where) {
  if (const std::optional<word> known = table_->find(text, where)) return *known;
  symbol_table::require_length(text.size());
  if (!has_slots(texts_.size() + 1, slots_.size())) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t position = where.tag & mask;
  for (; slots_[position] != 0; position = (position + 1) & mask) {
    if (slot_tag(slots_[position]) != where.tag) continue;
    const std::uint32_t index = slot_lower(slots_[position]) - 1;
    if (texts_[index] == text) return index | mark_bit;
  }
  const auto index = static_cast<std::uint32_t>(texts_.size());
  if (index >= symbol_table::max_symbols) symbol_table::report_full();
  texts_.push_back(text);
  keys_.push_back(where);
  slots_[position] = slot_value(where.tag, index + 1);
  return index | mark_bit;
}

void bulk_interning::part::grow() {
  std::vector<std::uint64_t> larger(slots_.empty() ? 256 : 2 * slots_.size());
  const std::size_t mask = larger.size() - 1;
  for (const std::uint64_t slot : slots_) {
    if (slot == 0) continue;
    std::size_t position = slot_tag(slot) & mask;
    while (larger[position] != 0) position = (position + 1) & mask;
    larger[position] = slot;
  }
  slots_ = std::move(larger);
}

/// The first occurrences of a shard's new texts: part in the upper half, position in texts_ in the lower.
struct bulk_interning::shard_firsts {
  std::vector<std::uint64_t> places;
};

void bulk_interning::group_by_shard(std::size_t number) {
  part& here = parts_[number];
  here.slots_ = {};
  here.first_.resize(here.texts_.size());
  here.numbers_.resize(here.texts_.size());
  here.by_shard_.resize(here.texts_.size());
  std::array<std::uint32_t, symbol_table::shard_count> next{};
  for (const symbol_table::key where : here.keys_) ++next[where.shard_number];
  std::uint32_t begin = 0;
  for (std::size_t shard = 0; shard < symbol_table::shard_count; ++shard) {
    here.shard_begin_[shard] = begin;
    begin += next[shard];
    next[shard] = here.shard_begin_[shard];
  }
  here.shard_begin_.back() = begin;
  for (std::uint32_t index = 0; index < here.texts_.size(); ++index) {
    here.by_shard_[next[here.keys_[index].shard_number]++] = index;
  }
}

void bulk_interning::find_firsts(std::size_t shard_number, shard_firsts& firsts) {
  std::size_t candidates = 0;
  for (const part& each : parts_) candidates += each.shard_begin_[shard_number + 1] - each.shard_begin_[shard_number];
  if (candidates == 0) return;
  // Tag in the upper half, position in firsts + 1 in the lower half.
  std::vector<std::uint64_t> slots(std::bit_ceil(2 * candidates));
  const std::size_t mask = slots.size() - 1;
  for (std::uint32_t number = 0; number < parts_.size(); ++number) {
    part& here = parts_[number];
    for (std::uint32_t at = here.shard_begin_[shard_number]; at < here.shard_begin_[shard_number + 1]; ++at) {
      const std::uint32_t index = here.by_shard_[at];
      const std::uint32_t tag = here.keys_[index].tag;
      const std::string_view text = here.texts_[index];
      std::uint64_t first = slot_value(number, index);
      std::size_t position = tag & mask;
      for (; slots[position] != 0; position = (position + 1) & mask) {
        if (slot_tag(slots[position]) != tag) continue;
        const std::uint64_t place = firsts.places[slot_lower(slots[position]) - 1];
        if (parts_[slot_tag(place)].texts_[slot_lower(place)] != text) continue;
        first = place;
        break;
      }
      if (slots[position] == 0) {
        firsts.places.push_back(first);
        slots[position] = slot_value(tag, firsts.places.size());
      }
      here.first_[index] = first;
    }
  }
}

void bulk_interning::number_part(std::size_t number, std::uint64_t first_id, char* storage) {
  part& here = parts_[number];
  std::uint64_t id = first_id;
  for (std::uint32_t index = 0; index < here.texts_.size(); ++index) {
    if (here.first_[index] != slot_value(static_cast<std::uint32_t>(number), index)) continue;
    symbol_table::store_text(storage, here.texts_[index]);
    table_.set_entry(id, storage);
    storage += symbol_table::stored_bytes(here.texts_[index]);
    here.numbers_[index] = static_cast<word>(id++);
  }
}

void bulk_interning::insert_firsts(std::size_t shard_number, const shard_firsts& firsts) {
  symbol_table::shard& owner = table_.shards_[shard_number];
  for (const std::uint64_t place : firsts.places) {
    const part& first_part = parts_[slot_tag(place)];
    const std::uint32_t index = slot_lower(place);
    symbol_table::insert_slot(owner, first_part.keys_[index].tag, first_part.numbers_[index]);
  }
}

void bulk_interning::finish(const parallel_runner& run) {
  const std::size_t count = parts_.size();
  if (std::none_of(parts_.begin(), parts_.end(), [](const part& each) { return each.has_marks(); })) return;
  std::vector<shard_firsts> firsts(symbol_table::shard_count);
  run(count, [&](std::size_t number) { group_by_shard(number); });
  run(symbol_table::shard_count, [&](std::size_t number) { find_firsts(number, firsts[number]); });

  std::vector<std::uint64_t> new_texts(count);
  std::vector<std::uint64_t> text_bytes(count);
  run(count, [&](std::size_t number) {
    const part& own = parts_[number];
    for (std::uint32_t index = 0; index < own.texts_.size(); ++index) {
      if (own.first_[index] != slot_value(static_cast<std::uint32_t>(number), index)) continue;
      ++new_texts[number];
      text_bytes[number] += symbol_table::stored_bytes(own.texts_[index]);
    }
  });
  const std::uint64_t old_size = table_.size();
  std::uint64_t new_size = old_size;
  std::vector<std::uint64_t> first_id(count);
  for (std::size_t number = 0; number < count; ++number) {
    first_id[number] = new_size;
    new_size += new_texts[number];
  }
  if (new_size > symbol_table::max_symbols) symbol_table::report_full();
  // Allocates all memory first: on failure, the table is unchanged.
  table_.ensure_segments(old_size, new_size);
  run(symbol_table::shard_count,
      [&](std::size_t number) { table_.make_room(table_.shards_[number], firsts[number].places.size(), false); });
  const std::uint64_t all_bytes = std::accumulate(text_bytes.begin(), text_bytes.end(), std::uint64_t{0});
  char* next = table_.bulk_blocks_.emplace_back(*table_.memory_, all_bytes, backend::fresh_memory::anything).data();
  table_.bulk_bytes_ += all_bytes;
  std::vector<char*> storage(count);
  for (std::size_t number = 0; number < count; ++number) {
    storage[number] = next;
    next += text_bytes[number];
  }

  run(count, [&](std::size_t number) { number_part(number, first_id[number], storage[number]); });
  run(symbol_table::shard_count, [&](std::size_t number) { insert_firsts(number, firsts[number]); });
  run(count, [&](std::size_t number) {
    part& own = parts_[number];
    for (std::uint32_t index = 0; index < own.texts_.size(); ++index) {
      const std::uint64_t first = own.first_[index];
      if (slot_tag(first) != number) own.numbers_[index] = parts_[slot_tag(first)].numbers_[slot_lower(first)];
    }
  });
  table_.size_.store(new_size, std::memory_order_release);
}

}  // namespace gpulog::storage
