#include "exec/pipeline_builder.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/host_steps.hpp"

namespace gpulog::exec {

namespace {

using kernels::expansion_kind;
using kernels::register_number;
using kernels::segment;
using kernels::step;
using kernels::step_kind;
using register_set = std::set<register_number>;

kernels::row_part part_of(plan::part rows) {
  switch (rows) {
    case plan::part::old:
      return kernels::row_part::old;
    case plan::part::delta:
      return kernels::row_part::delta;
    case plan::part::all:
      break;
  }
  return kernels::row_part::all;
}

class builder {
 public:
  builder(const plan::rule_version& version, const plan::program& program, const std::vector<index_place>& places,
          storage::storage_mode mode, storage::symbol_table* symbols, storage::record_tables* records, bool for_device,
          bool with_choices)
      : program_(program), places_(places), mode_(mode), records_(records), for_device_(for_device) {
    // Each aggregate has a register of its own that numbers its groups.
    next_owner_ = version.slot_count;
    result_.slot_count = version.slot_count;
    for (const plan::operation& operation : version.operations) {
      if (std::holds_alternative<plan::fold_begin>(operation)) ++result_.slot_count;
    }
    result_.symbols = symbols;
    std::set<std::size_t> chosen_tests;  // which are made with the choice of a search
    for (std::size_t number = 0; number < version.operations.size(); ++number) {
      if (chosen_tests.contains(number)) continue;
      std::visit([this](const auto& one) { add(one); }, version.operations[number]);
      const auto* const match = std::get_if<plan::match>(&version.operations[number]);
      if (match == nullptr || match->others.empty() || !with_choices) continue;
      add_choices(*match, version.operations);
      for (const plan::other_search& other : match->others) chosen_tests.insert(other.test);
    }
    find_live_registers();
  }
  kernels::pipeline take() { return std::move(result_); }

 private:
  register_number number_of(const plan::operand& operand) {
    if (!operand.is_constant) return operand.value;
    auto& constants = result_.constants;
    auto found = std::find(constants.begin(), constants.end(), operand.value);
    if (found == constants.end()) found = constants.insert(constants.end(), operand.value);
    return result_.slot_count + static_cast<register_number>(found - constants.begin());
  }
  std::vector<register_number> numbers_of(const std::vector<plan::operand>& operands) {
    std::vector<register_number> numbers;
    for (const plan::operand& operand : operands) numbers.push_back(number_of(operand));
    return numbers;
  }

  segment& current() {
    begin();
    if (result_.segments.back().kind == expansion_kind::host) result_.segments.emplace_back();
    return result_.segments.back();
  }
  /// No atom before: one empty binding.
  void begin() {
    if (result_.segments.empty()) result_.segments.emplace_back();
  }

  void add_step(step&& made) {
    if (!for_device_ || !kernels::needs_host(made)) {
      current().steps.push_back(std::move(made));
      return;
    }
    begin();
    if (result_.segments.back().kind != expansion_kind::host) {
      result_.segments.emplace_back().kind = expansion_kind::host;
    }
    result_.segments.back().steps.push_back(std::move(made));
  }

  std::size_t level_of(index_id index, std::size_t keys) const {
    const auto& lengths = program_.indexes[index.value].key_lengths;
    return static_cast<std::size_t>(std::find(lengths.begin(), lengths.end(), keys) - lengths.begin());
  }

  void add(const plan::scan& scan) {
    segment& made = result_.segments.emplace_back();
    made.kind = expansion_kind::scan;
    made.part = part_of(scan.rows);
    made.source = scan.relation.value;
    // Every element is its own partner. In an aggregate each of its pairs counts.
    if (scan.changed_elements) {
      made.scanned = kernels::scan_kind::changed_elements;
    } else if (program_.relations[scan.relation.value].is_equivalence && scan.bindings.size() <= 1 &&
               open_folds_.empty()) {
      made.scanned = kernels::scan_kind::elements;
    }
    for (const plan::column_binding& binding : scan.bindings)
      made.bindings.push_back({binding.slot.value, binding.column});
  }

  void add(const plan::match& match) {
    segment& made = result_.segments.emplace_back();
    made.kind = expansion_kind::match;
    made.part = part_of(match.rows);
    made.source = match.relation.value;
    made.index = places_[match.index.value].number;
    made.level = level_of(match.index, match.keys.size());
    made.keys = numbers_of(match.keys);
    for (const plan::column_binding& binding : match.bindings) {
      made.bindings.push_back({binding.slot.value, stored_column(match.index, binding.column)});
    }
  }

  /// Where a match reads a column: in the relation, or among the columns that its index stores.
  [[nodiscard]] std::uint32_t stored_column(index_id index, std::uint32_t column) const {
    const storage::index_layout layout = make_layout(program_.indexes[index.value], mode_);
    if (layout.positions) return column;
    const auto place = std::find(layout.stored.begin(), layout.stored.end(), column);
    return static_cast<std::uint32_t>(place - layout.stored.begin());
  }

  /// The searches that a match leaves open, each with the tests of all others' relations.
  void add_choices(const plan::match& match, const std::vector<plan::operation>& operations) {
    segment& made = result_.segments.back();
    std::vector<step> tests;
    plan::exists own{match.relation, plan::part::all, false, {}, {}};
    own.keys.resize(match.keys.size() + 1);
    const std::vector<std::uint32_t>& order = program_.indexes[match.index.value].order;
    for (std::size_t number = 0; number < match.keys.size(); ++number) own.keys[order[number]] = match.keys[number];
    own.keys[match.bindings.front().column] = plan::operand::slot(match.bindings.front().slot);
    tests.push_back(make_test(own));
    made.choices.push_back({made.source, made.index, made.level, made.keys, made.bindings.front(), {}});
    for (const plan::other_search& other : match.others) {
      tests.push_back(make_test(std::get<plan::exists>(operations[other.test])));
      made.choices.push_back({other.relation.value,
                              places_[other.index.value].number,
                              level_of(other.index, other.keys.size()),
                              numbers_of(other.keys),
                              {made.bindings.front().target, stored_column(other.index, other.column)},
                              {}});
    }
    for (std::size_t choice = 0; choice < tests.size(); ++choice) {
      for (std::size_t number = 0; number < tests.size(); ++number) {
        if (number != choice) made.choices[choice].checks.push_back(tests[number]);
      }
    }
  }

  void add(const plan::exists& exists) { add_step(make_test(exists)); }

  step make_test(const plan::exists& exists) {
    step made{};
    made.negated = exists.negated;
    made.part = part_of(exists.rows);
    made.source = exists.relation.value;
    made.arguments = numbers_of(exists.keys);
    if (exists.index.valid()) {
      made.kind = step_kind::exists_key;
      made.index = places_[exists.index.value].number;
      made.level = level_of(exists.index, exists.keys.size());
    } else {
      made.kind = exists.keys.empty() ? step_kind::exists_any : step_kind::exists_tuple;
    }
    return made;
  }

  void add(const plan::compute& compute) {
    step made{};
    made.kind = step_kind::compute;
    made.scalar = compute.op;
    made.result = compute.result.value;
    made.arguments = numbers_of(compute.arguments);
    add_step(std::move(made));
  }

  void add(const plan::filter& filter) {
    step made{};
    made.kind = step_kind::filter;
    made.comparison = filter.op;
    made.arguments = {number_of(filter.left), number_of(filter.right)};
    add_step(std::move(made));
  }

  void add(const plan::pack& pack) {
    step made{};
    made.kind = pack.known_only ? step_kind::find_record : step_kind::pack;
    made.result = pack.result.value;
    made.arguments = numbers_of(pack.fields);
    made.records = records_of(pack.fields.size());
    add_step(std::move(made));
  }

  void add(const plan::unpack& unpack) {
    step made{};
    made.kind = step_kind::unpack;
    made.arguments = {number_of(unpack.record)};
    made.records = records_of(unpack.arity);
    for (const plan::field_binding& binding : unpack.bindings) {
      made.bindings.push_back({binding.slot.value, binding.field});
    }
    add_step(std::move(made));
  }

  storage::record_table* records_of(std::size_t arity) {
    return records_ == nullptr ? nullptr : &(*records_)[static_cast<std::uint32_t>(arity)];
  }

  void add(const plan::generate& generate) {
    begin();
    segment& made = result_.segments.emplace_back();
    made.kind = expansion_kind::range;
    made.keys = numbers_of(generate.arguments);
    made.value = generate.kind;
    made.bindings.push_back({generate.result.value, 0});
  }

  void add(const plan::fold_begin&) {
    begin();
    open_folds_.push_back(result_.segments.size());
    segment& made = result_.segments.emplace_back();
    made.kind = expansion_kind::fold;
    made.owner = next_owner_++;
  }

  void add(const plan::fold_end& end) {
    const std::size_t fold = open_folds_.back();
    open_folds_.pop_back();
    segment& last = current();
    last.ended_fold = fold;
    last.folded = number_of(end.value);
    last.fold = end.op;
    result_.segments[fold].unfold = result_.segments.size();
    segment& made = result_.segments.emplace_back();
    made.kind = expansion_kind::unfold;
    made.result = end.result.value;
  }

  void add(const plan::insert& insert) {
    current();
    result_.target = insert.relation.value;
    result_.head = numbers_of(insert.values);
  }

  void read(register_set& live, const std::vector<register_number>& registers) const {
    for (register_number number : registers) {
      if (number < result_.slot_count) live.insert(number);
    }
  }

  void find_live_registers() {
    register_set live;
    read(live, result_.head);
    std::vector<register_set> behind;  // of the folds that s is in: what is read behind them
    for (std::size_t s = result_.segments.size(); s-- > 0;) {
      segment& here = result_.segments[s];
      if (here.ended_fold != 0) {
        live = {result_.segments[here.ended_fold].owner};
        read(live, {here.folded});
      }
      for (std::size_t i = here.steps.size(); i-- > 0;) {
        step& one = here.steps[i];
        one.live.assign(live.begin(), live.end());
        const bool has_result =
            one.kind == step_kind::compute || one.kind == step_kind::pack || one.kind == step_kind::find_record;
        if (has_result) live.erase(one.result);
        for (const kernels::binding& field : one.bindings) live.erase(field.target);
        read(live, one.arguments);
      }
      if (!here.choices.empty()) live = live_before_checks(here.choices, live);
      for (const kernels::binding& binding : here.bindings) live.erase(binding.target);
      if (here.kind == expansion_kind::unfold) live.erase(here.result);
      if (here.kind == expansion_kind::fold) live.erase(here.owner);
      here.carried.assign(live.begin(), live.end());
      if (here.kind == expansion_kind::unfold) behind.push_back(live);
      if (here.kind == expansion_kind::fold) {
        live.merge(behind.back());
        behind.pop_back();
      }
      read(live, here.keys);
      for (const kernels::search_choice& choice : here.choices) read(live, choice.keys);
    }
  }

  register_set live_before_checks(std::vector<kernels::search_choice>& choices, const register_set& behind) const {
    register_set before = behind;
    for (kernels::search_choice& choice : choices) {
      register_set live = behind;
      for (std::size_t i = choice.checks.size(); i-- > 0;) {
        choice.checks[i].live.assign(live.begin(), live.end());
        read(live, choice.checks[i].arguments);
      }
      before.merge(live);
    }
    return before;
  }

  const plan::program& program_;
  const std::vector<index_place>& places_;
  storage::storage_mode mode_;
  storage::record_tables* records_;
  bool for_device_;
  kernels::pipeline result_;
  std::vector<std::size_t> open_folds_;  // segments
  register_number next_owner_ = 0;
};

}  // namespace

storage::index_layout make_layout(const plan::index& planned, storage::storage_mode mode) {
  storage::index_layout layout;
  layout.order = planned.order;
  layout.key_lengths = planned.key_lengths;
  if (mode == storage::storage_mode::hisa) {
    layout.positions = true;
    layout.load = storage::hisa_set::load_factor;
    return layout;
  }
  // A search on a short prefix also reads the key columns behind it.
  layout.stored.assign(planned.order.begin() + planned.key_lengths.front(),
                       planned.order.begin() + planned.key_lengths.back());
  for (std::uint32_t column : planned.payload) {
    if (std::find(layout.stored.begin(), layout.stored.end(), column) == layout.stored.end())
      layout.stored.push_back(column);
  }
  return layout;
}

std::vector<index_place> place_indexes(const plan::program& program) {
  std::vector<std::size_t> next(program.relations.size(), 0);
  std::vector<index_place> places;
  for (const plan::index& planned : program.indexes)
    places.push_back({planned.relation, next[planned.relation.value]++});
  return places;
}

kernels::pipeline build_pipeline(const plan::rule_version& version, const plan::program& program,
                                 const std::vector<index_place>& places, storage::storage_mode mode,
                                 storage::symbol_table* symbols, storage::record_tables* records, bool for_device,
                                 bool with_choices) {
  return builder(version, program, places, mode, symbols, records, for_device, with_choices).take();
}

}  // namespace gpulog::exec
