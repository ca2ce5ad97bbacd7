#include "engine/proofs/proof_graph.hpp"

#include <algorithm>
#include <utility>

#include "storage/sets/hash.hpp"

namespace gpulog::detail {
namespace {

constexpr std::size_t first_slots = 1024;

std::uint64_t hash_of(relation_id relation, std::span<const word> words) {
  storage::key_hash hash;
  hash.add(relation.value);
  for (const word value : words) hash.add(value);
  return hash.value();
}

}  // namespace

std::uint64_t proof_graph::slot_of(relation_id relation, std::span<const word> words) const {
  std::uint64_t slot = storage::scale(hash_of(relation, words), slots_.size());
  while (slots_[slot] != 0) {
    const number there = slots_[slot] - 1;
    const std::span<const word> own = this->words(there);
    if (tuples_[there].relation == relation && std::equal(own.begin(), own.end(), words.begin(), words.end())) break;
    slot = slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  return slot;
}

void proof_graph::grow() {
  slots_.assign(std::max(first_slots, slots_.size() * 2), 0);
  for (number of = 0; of < tuples_.size(); ++of) slots_[slot_of(tuples_[of].relation, words(of))] = of + 1;
}

proof_graph::number proof_graph::tuple_number(relation_id relation, std::span<const word> words) {
  if (slots_.size() < 2 * (tuples_.size() + 1)) grow();
  const std::uint64_t slot = slot_of(relation, words);
  if (slots_[slot] != 0) return slots_[slot] - 1;
  tuple& added = tuples_.emplace_back();
  added.relation = relation;
  added.arity = static_cast<std::uint32_t>(words.size());
  added.words = words_.size();
  words_.insert(words_.end(), words.begin(), words.end());
  slots_[slot] = static_cast<number>(tuples_.size());
  return slots_[slot] - 1;
}

void proof_graph::set_fact(number of) {
  tuples_[of].is_fact = true;
  if (!tuples_[of].is_proven) prove(of);
}

void proof_graph::add_instance(number head, std::uint32_t rule, std::span<const number> premises) {
  const auto own = static_cast<number>(instances_.size());
  instance added;
  added.head = head;
  added.rule = rule;
  added.first_premise = premises_.size();
  added.premise_count = static_cast<std::uint32_t>(premises.size());
  const number before = std::exchange(tuples_[head].last_instance, own);
  (before == none ? tuples_[head].first_instance : instances_[before].next) = own;
  for (const number premise : premises) {
    premises_.push_back(premise);
    uses_.push_back({own, std::exchange(tuples_[premise].first_use, static_cast<number>(uses_.size()))});
    added.unproven += tuples_[premise].is_proven ? 0 : 1;
  }
  instances_.push_back(added);
  if (added.unproven == 0 && !tuples_[head].is_proven) prove(head);
}

void proof_graph::prove(number first) {
  tuples_[first].is_proven = true;
  std::vector<number> proven = {first};
  while (!proven.empty()) {
    const number last = proven.back();
    proven.pop_back();
    for (number next = tuples_[last].first_use; next != none; next = uses_[next].next) {
      instance& user = instances_[uses_[next].of];
      if (--user.unproven != 0 || tuples_[user.head].is_proven) continue;
      tuples_[user.head].is_proven = true;
      proven.push_back(user.head);
    }
  }
}

void proof_graph::find_heights(const std::vector<number>& tuples, std::uint32_t cone) {
  std::vector<number> now;   // tuples of the current height
  std::vector<number> next;  // tuples of the next height
  for (const number of : tuples) {
    tuples_[of].height = tuples_[of].is_fact ? 0 : none;
    if (tuples_[of].is_fact) now.push_back(of);
  }
  const auto give_height = [&](number of, std::uint32_t height) {
    if (tuples_[of].height != none) return;
    tuples_[of].height = height;
    next.push_back(of);
  };
  for (const number of : tuples) {
    for (number i = tuples_[of].first_instance; i != none; i = instances_[i].next) {
      instances_[i].waiting = instances_[i].premise_count;
      if (instances_[i].waiting == 0) give_height(of, 1);
    }
  }
  for (std::uint32_t height = 1; !now.empty() || !next.empty(); ++height) {
    for (const number of : now) {
      for (number i = tuples_[of].first_use; i != none; i = uses_[i].next) {
        instance& user = instances_[uses_[i].of];
        if (tuples_[user.head].cone == cone && --user.waiting == 0) give_height(user.head, height);
      }
    }
    now.swap(next);
    next.clear();
  }
}

}  // namespace gpulog::detail
