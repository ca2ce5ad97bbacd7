#include "storage/symbols/symbol_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "support/error.hpp"

namespace gpulog::storage {
namespace {

constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t first_capacity = 32;
constexpr std::size_t first_block_bytes = 1024;

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

/// Returns nullptr for numbers without a text, which casts may produce.
const char* symbol_table::entry(std::uint64_t id) const {
  const entry_place place = place_of(id);
  if (place.segment >= segment_count) return nullptr;
  const char** segment = segments_[place.segment].load(std::memory_order_acquire);
  if (segment == nullptr) return nullptr;
  return std::atomic_ref<const char*>(segment[place.offset]).load(std::memory_order_acquire);
}

std::string_view symbol_table::text(word id) const {
  const char* const stored = entry(id);
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

std::optional<word> symbol_table::first_number(key where) const {
  const slot_array* table = shards_[where.shard_number].current.load(std::memory_order_acquire);
  if (table == nullptr) return std::nullopt;
  for (std::size_t position = where.tag & table->mask;; position = (position + 1) & table->mask) {
    const std::uint64_t slot = table->slots[position].load(std::memory_order_acquire);
    if (slot == 0) return std::nullopt;
    if (slot_tag(slot) == where.tag) return slot_lower(slot) - 1;
  }
}

const char** symbol_table::first_entry(key where) const {
  const std::optional<word> number = first_number(where);
  if (!number) return nullptr;
  const entry_place place = place_of(*number);
  return segments_[place.segment].load(std::memory_order_acquire) + place.offset;
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

word symbol_table::insert(std::string_view text, key where, backend::array<char> block) {
  require_length(text.size());
  shard& owner = shards_[where.shard_number];
  const std::lock_guard lock(owner.inserting);
  // Another thread may have been faster.
  if (const std::optional<word> known = find(text, where)) return *known;
  // Allocates all memory first: on failure, no number is taken.
  make_room(owner);
  char* storage = block.data();
  if (storage != nullptr) {
    owner.block_bytes += block.size();
    owner.blocks.push_back(std::move(block));
  } else {
    storage = allocate_text(owner, stored_bytes(text));
    store_text(storage, text);
  }
  std::uint64_t id = size_.load(std::memory_order_relaxed);
  do {
    if (id >= max_symbols) report_full();
    ensure_segments(id, id + 1);
  } while (!size_.compare_exchange_weak(id, id + 1, std::memory_order_acq_rel));
  set_entry(id, storage);
  insert_slot(owner, where.tag, static_cast<word>(id));
  return static_cast<word>(id);
}

void symbol_table::make_room(shard& owner) {
  const std::size_t capacity = owner.owner ? owner.owner->mask + 1 : 0;
  if (has_slots(owner.used + 1, capacity)) return;
  auto larger = std::make_unique<slot_array>(*memory_, std::max(first_capacity, 2 * capacity));
  for (std::size_t from = 0; from < capacity; ++from) {
    const std::uint64_t slot = owner.owner->slots[from].load(std::memory_order_relaxed);
    if (slot == 0) continue;
    std::size_t position = slot_tag(slot) & larger->mask;
    while (larger->slots[position].load(std::memory_order_relaxed) != 0) position = (position + 1) & larger->mask;
    larger->slots[position].store(slot, std::memory_order_relaxed);
  }
  owner.current.store(larger.get(), std::memory_order_release);
  if (owner.owner) owner.retired.push_back(std::move(owner.owner));
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

std::atomic<std::uint64_t>& symbol_table::slot_of(key where, word id) {
  slot_array& table = *shards_[where.shard_number].owner;
  std::size_t position = where.tag & table.mask;
  while (table.slots[position].load(std::memory_order_relaxed) != slot_value(where.tag, std::uint64_t{id} + 1)) {
    position = (position + 1) & table.mask;
  }
  return table.slots[position];
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

std::string_view symbol_table::store_length(char* where, std::uint32_t length) {
  std::memcpy(where, &length, sizeof length);
  return {where + sizeof length, length};
}

void symbol_table::store_text(char* where, std::string_view text) {
  const std::string_view stored = store_length(where, static_cast<std::uint32_t>(text.size()));
  if (!stored.empty()) std::memcpy(where + sizeof(std::uint32_t), text.data(), text.size());
}

std::uint64_t symbol_table::memory_bytes() const {
  std::uint64_t bytes = size() * sizeof(const char*);
  for (const shard& each : shards_) {
    bytes += each.block_bytes;
    if (const slot_array* table = each.current.load(std::memory_order_acquire)) bytes += (table->mask + 1) * 8;
  }
  return bytes;
}

void symbol_table::report_full() {
  throw user_error("the symbol table is full: more than " + std::to_string(max_symbols) + " different symbols");
}

ordered_interning::ordered_interning(symbol_table& table)
    : table_(table), first_number_(table.size()), numbers_(*table.memory_) {
  // No other thread interns yet, so no thread can still read an old table.
  table.free_outgrown();
}

ordered_interning::part& ordered_interning::add_part(std::uint64_t position) {
  const std::lock_guard lock(growing_);
  return parts_.emplace_back(*this, position);
}

std::atomic<std::uint64_t>* ordered_interning::allocate_segment(std::size_t segment) {
  const std::lock_guard lock(growing_);
  if (segments_[segment].load(std::memory_order_relaxed) == nullptr) {
    const std::uint64_t size = std::uint64_t{1} << (segment + symbol_table::first_segment_bits);
    segment_memory_[segment] = position_array(*table_.memory_, size);
    segments_[segment].store(segment_memory_[segment].data(), std::memory_order_release);
  }
  return segments_[segment].load(std::memory_order_relaxed);
}

std::atomic<std::uint64_t>& ordered_interning::position_of(word number) {
  const auto [segment, offset] = symbol_table::place_of(number - first_number_);
  std::atomic<std::uint64_t>* positions = segments_[segment].load(std::memory_order_acquire);
  if (positions == nullptr) positions = allocate_segment(segment);
  return positions[offset];
}

void ordered_interning::prefetch_position(symbol_table::key where) const {
  const std::optional<word> number = table_.first_number(where);
  if (!number || *number < first_number_) return;
  const auto [segment, offset] = symbol_table::place_of(*number - first_number_);
  const std::atomic<std::uint64_t>* positions = segments_[segment].load(std::memory_order_acquire);
  if (positions != nullptr) __builtin_prefetch(positions + offset);
}

void ordered_interning::part::note(word number, symbol_table::key where) {
  std::atomic<std::uint64_t>& smallest = all_->position_of(number);
  const std::uint64_t here = ~(position_ + next_);
  std::uint64_t seen = smallest.load(std::memory_order_relaxed);
  while (seen < here) {
    if (!smallest.compare_exchange_weak(seen, here, std::memory_order_relaxed)) continue;
    candidates_.push_back({number, next_, where});
    return;
  }
}

bool ordered_interning::part::is_first(const candidate& text) const {
  return all_->position_of(text.number).load(std::memory_order_relaxed) == ~(position_ + text.place);
}

void ordered_interning::number_part(part& here) {
  std::uint64_t number = here.first_number_;
  bool is_replaced = false;
  for (const part::candidate& text : here.candidates_) {
    if (!here.is_first(text)) continue;
    is_replaced = is_replaced || text.number != number;
    numbers_[text.number - first_number_] = static_cast<word>(number++);
  }
  if (is_replaced) has_replaced_.store(true, std::memory_order_relaxed);
}

void ordered_interning::replace_numbers(const std::vector<part*>& parts, std::uint64_t count,
                                        const parallel_runner& run) {
  backend::array<stored_text> texts(*table_.memory_, count, backend::fresh_memory::anything);
  run(parts.size(), [&](std::size_t number) {
    for (const part::candidate& text : parts[number]->candidates_) {
      if (!parts[number]->is_first(text)) continue;
      texts[text.number - first_number_] = {table_.entry(text.number), &table_.slot_of(text.where, text.number)};
    }
  });
  constexpr std::uint64_t block = std::uint64_t{1} << 16;
  run(static_cast<std::size_t>((count + block - 1) / block), [&](std::size_t number) {
    const std::uint64_t end = std::min(count, (number + 1) * block);
    for (std::uint64_t at = number * block; at < end; ++at) {
      table_.set_entry(numbers_[at], texts[at].text);
      const std::uint32_t tag = slot_tag(texts[at].slot->load(std::memory_order_relaxed));
      texts[at].slot->store(slot_value(tag, std::uint64_t{numbers_[at]} + 1), std::memory_order_relaxed);
    }
  });
}

void ordered_interning::finish(const parallel_runner& run) {
  const std::uint64_t count = table_.size() - first_number_;
  if (count == 0) return;
  std::vector<part*> parts;
  for (part& each : parts_) parts.push_back(&each);
  std::sort(parts.begin(), parts.end(), [](const part* a, const part* b) { return a->position_ < b->position_; });
  run(parts.size(), [&](std::size_t number) {
    part& here = *parts[number];
    here.firsts_ =
        static_cast<std::uint64_t>(std::count_if(here.candidates_.begin(), here.candidates_.end(),
                                                 [&here](const part::candidate& text) { return here.is_first(text); }));
  });
  std::uint64_t next = first_number_;
  for (part* const each : parts) {
    each->first_number_ = next;
    next += each->firsts_;
  }
  ensure(next == table_.size(), "every new text has a first position");
  numbers_.resize(count);
  run(parts.size(), [&](std::size_t number) { number_part(*parts[number]); });
  if (!has_replaced()) return;
  replace_numbers(parts, count, run);
}

}  // namespace gpulog::storage
