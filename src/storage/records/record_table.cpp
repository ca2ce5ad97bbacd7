#include "storage/records/record_table.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace gpulog::storage {

record_table::record_table(std::uint32_t arity, word most, backend::memory_resource& memory)
    : arity_(arity), most_(most), resource_(&memory) {
  // Constants of programs refer to this record, so it must exist before any other is created.
  if (arity == 0) intern(nullptr);
}

record_table::place record_table::place_of(word record) {
  const std::uint64_t position = std::uint64_t{record} - 1 + (std::uint64_t{1} << first_chunk_bits);
  const auto chunk = static_cast<std::size_t>(std::bit_width(position >> (first_chunk_bits + 1)));
  return {chunk, position - std::bit_floor(position)};
}

std::uint64_t record_table::hash_of(const word* fields) const {
  constexpr std::uint64_t multiplier = 0x9E3779B97F4A7C15;
  std::uint64_t hash = arity_;
  for (std::uint32_t field = 0; field < arity_; ++field) {
    hash = (hash ^ fields[field]) * multiplier;
    hash ^= hash >> 32;
  }
  return hash * multiplier;
}

bool record_table::holds(word record, const word* wanted) const {
  return arity_ == 0 || std::equal(wanted, wanted + arity_, fields(record));
}

namespace {

constexpr unsigned word_bits = 32;

/// The lower bits of the hash address the slots of a shard; the upper bits select the shard.
std::uint64_t slot_entry(std::uint64_t hash, word record) { return hash << word_bits | record; }
word record_in(std::uint64_t slot) { return static_cast<word>(slot); }
bool is_free(std::uint64_t slot) { return record_in(slot) == nil_record; }

}  // namespace

std::size_t record_table::find_slot(const shard& owner, std::uint64_t hash, const word* wanted) const {
  const auto mask = static_cast<std::size_t>(owner.slots.size() - 1);
  const std::uint64_t tag = hash << word_bits >> word_bits;
  for (std::size_t slot = tag & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t seen = owner.slots[slot];
    if (is_free(seen) || (seen >> word_bits == tag && holds(record_in(seen), wanted))) return slot;
  }
}

word record_table::find(const word* wanted, std::uint64_t hash) const {
  if (not_entered_.load(std::memory_order_acquire)) enter_adopted();
  const shard& owner = shards_[shard_of(hash)];
  const std::lock_guard lock(owner.access);
  return owner.slots.size() == 0 ? nil_record : record_in(owner.slots[find_slot(owner, hash, wanted)]);
}

word record_table::intern(const word* wanted, std::uint64_t hash) {
  if (not_entered_.load(std::memory_order_acquire)) enter_adopted();
  shard& owner = shards_[shard_of(hash)];
  const std::lock_guard lock(owner.access);
  if (4 * (owner.used + 1) > 3 * owner.slots.size()) grow(owner);
  std::uint64_t& slot = owner.slots[find_slot(owner, hash, wanted)];
  if (is_free(slot)) {
    slot = slot_entry(hash, append(wanted));
    ++owner.used;
  }
  return record_in(slot);
}

void record_table::enter(shard& owner, std::uint64_t hash, word record) const {
  if (4 * (owner.used + 1) > 3 * owner.slots.size()) grow(owner);
  const auto mask = static_cast<std::size_t>(owner.slots.size() - 1);
  const std::uint64_t entry = slot_entry(hash, record);
  std::size_t slot = (entry >> word_bits) & mask;
  while (!is_free(owner.slots[slot])) slot = (slot + 1) & mask;
  owner.slots[slot] = entry;
  ++owner.used;
}

void record_table::enter_adopted() const {
  const std::lock_guard lock(entering_);
  if (!not_entered_.load(std::memory_order_relaxed)) return;
  // All adopted records are entered before any record is interned: the shards contain the first records.
  std::uint64_t record = 0;
  for (const shard& one : shards_) record += one.used;
  constexpr std::size_t batch = 64;
  std::array<std::uint64_t, batch> hashes;
  for_each_run(static_cast<word>(record + 1), static_cast<word>(size()), [&](const word* values, std::uint64_t n) {
    for (std::uint64_t done = 0; done < n; done += batch) {
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(batch, n - done));
      for (std::size_t i = 0; i < part; ++i) {
        hashes[i] = hash_of(values + (done + i) * arity_);
        prefetch(hashes[i]);
      }
      for (std::size_t i = 0; i < part; ++i) {
        enter(shards_[shard_of(hashes[i])], hashes[i], static_cast<word>(++record));
      }
    }
  });
  not_entered_.store(false, std::memory_order_release);
}

void record_table::grow(shard& owner) const {
  constexpr std::uint64_t smallest = 16;
  static_assert(nil_record == 0, "fresh slots are free");
  backend::array<std::uint64_t> larger(*resource_, std::max(smallest, 2 * owner.slots.size()));
  const auto mask = static_cast<std::size_t>(larger.size() - 1);
  for (const std::uint64_t entry : owner.slots) {
    if (is_free(entry)) continue;
    std::size_t slot = (entry >> word_bits) & mask;
    while (!is_free(larger[slot])) slot = (slot + 1) & mask;
    larger[slot] = entry;
  }
  owner.slots = std::move(larger);
  owner.mask.store(mask, std::memory_order_relaxed);
  owner.first.store(owner.slots.data(), std::memory_order_relaxed);
}

word* record_table::chunk_for(std::size_t number) {
  if (word* const made = chunks_[number].load(std::memory_order_acquire)) return made;
  const std::lock_guard lock(allocation_);
  if (chunks_[number].load(std::memory_order_relaxed) == nullptr) {
    const std::uint64_t words = (std::uint64_t{1} << (number + first_chunk_bits)) * std::max(arity_, 1U);
    memory_[number] = backend::array<word>(*resource_, words, backend::fresh_memory::anything);
    chunks_[number].store(memory_[number].data(), std::memory_order_release);
  }
  return chunks_[number].load(std::memory_order_relaxed);
}

word record_table::make_places(std::uint64_t records) {
  const std::uint64_t last = size() + records;
  if (last > most_) throw std::length_error(too_many_records);
  const std::size_t last_chunk = place_of(static_cast<word>(last)).chunk;
  for (std::size_t chunk = 0; chunk <= last_chunk; ++chunk) chunk_for(chunk);
  return static_cast<word>(last);
}

word record_table::append(const word* values) {
  std::uint64_t taken = size_.load(std::memory_order_relaxed);
  do {
    if (taken == most_) throw std::length_error(too_many_records);
    // Before the number is taken: if the allocation fails, no record lacks its fields.
    chunk_for(place_of(static_cast<word>(taken + 1)).chunk);
  } while (!size_.compare_exchange_weak(taken, taken + 1, std::memory_order_acq_rel));
  const auto record = static_cast<word>(taken + 1);
  const place where = place_of(record);
  std::copy_n(values, arity_, chunk_for(where.chunk) + where.row * arity_);
  return record;
}

record_table& record_tables::create(std::uint32_t arity) {
  const std::lock_guard lock(creating_);
  const by_arity* const before = all_.load(std::memory_order_relaxed);
  auto all = std::make_unique<by_arity>(before == nullptr ? by_arity{} : *before);
  if (all->size() <= arity) all->resize(arity + std::size_t{1});
  record_table*& table = (*all)[arity];
  if (table != nullptr) return *table;  // created by another thread just now
  table = tables_.emplace_back(std::make_unique<record_table>(arity, most_, *memory_)).get();
  all_.store(all_so_far_.emplace_back(std::move(all)).get(), std::memory_order_release);
  return *table;
}

std::uint32_t record_tables::arities() const {
  const by_arity* const all = all_.load(std::memory_order_acquire);
  return all == nullptr ? 0 : static_cast<std::uint32_t>(all->size());
}

}  // namespace gpulog::storage
