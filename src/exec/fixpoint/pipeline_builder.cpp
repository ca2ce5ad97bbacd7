#include "exec/fixpoint/pipeline_builder.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "exec/fixpoint/live_registers.hpp"
#include "exec/fixpoint/plan_tasks.hpp"
#include "exec/fixpoint/register_allocation.hpp"
#include "exec/fixpoint/scan_windows.hpp"
#include "exec/fixpoint/step_places.hpp"
#include "exec/fixpoint/wide_registers.hpp"
#include "kernels/steps/host_steps.hpp"
#include "support/error.hpp"

namespace gpulog::exec {

namespace {

using kernels::expansion_kind;
using kernels::register_number;
using kernels::segment;
using kernels::step;
using kernels::step_kind;

class builder {
 public:
  builder(const plan::rule_version& version, const plan::program& program, const std::vector<index_place>& places,
          storage::storage_mode mode, const pipeline_tables& tables, bool for_device, bool with_choices)
      : program_(program),
        kinds_(version.slot_kinds),
        places_(places),
        mode_(mode),
        tables_(tables),
        for_device_(for_device),
        on_cpu_(with_choices && !for_device) {
    // Each aggregate and each first match has a separate register with the number of its group.
    next_owner_ = version.slot_count;
    result_.slot_count = version.slot_count;
    if (on_cpu_) result_.slot_count += static_cast<register_number>(version.first_matches.size());
    for (const plan::operation& operation : version.operations) {
      if (std::holds_alternative<plan::fold_begin>(operation)) ++result_.slot_count;
    }
    result_.symbols = tables.symbols;
    result_.wide = tables.wide;
    if (result_.wide != nullptr) reserve_halves(version);
    std::set<std::size_t> chosen_tests;  // tests that are part of the choice of a search
    auto next_first_match = version.first_matches.begin();
    behind_operators_.resize(version.operations.size());
    for (std::size_t number = 0; number < version.operations.size(); ++number) {
      while (!open_first_matches_.empty() && open_first_matches_.back() == number) end_first_match();
      end_begun_first_matches(number);
      if (next_first_match != version.first_matches.end() && next_first_match->begin == number) {
        if (on_cpu_) {
          begin_fold().first_match = true;
          open_first_matches_.push_back(next_first_match->end);
        } else if (for_device) {
          begin();
          begun_first_matches_.emplace_back(result_.segments.size(), next_first_match->end);
        }
        ++next_first_match;
      }
      if (chosen_tests.contains(number)) continue;
      std::visit([this](const auto& one) { add(one); }, version.operations[number]);
      behind_operators_[number] = std::exchange(last_place_, std::nullopt).value_or(end_of_pipeline());
      const auto* const match = std::get_if<plan::match>(&version.operations[number]);
      if (match == nullptr || match->others.empty() || !with_choices) continue;
      if (!keys_are_codes(*match, version.operations)) continue;
      add_choices(*match, version.operations);
      behind_operators_[number].step = 0;
      for (const plan::other_search& other : match->others) {
        chosen_tests.insert(other.test);
        behind_operators_[other.test] = end_of_pipeline();
      }
    }
    end_begun_first_matches(version.operations.size());
    if (on_cpu_) find_windows(result_, program_);
    find_first_match_bodies();
    find_live_registers(result_);
    if (!for_device_) share_registers(result_);
    if (tables.counts_steps) result_.counted = make_step_counts(result_, behind_operators_, for_device);
  }
  kernels::pipeline take() { return std::move(result_); }

 private:
  [[nodiscard]] step_place end_of_pipeline() const {
    return {result_.segments.size() - 1, result_.segments.back().steps.size() + 1};
  }
  /// Returns the register of an operand, which holds a word of columns.
  register_number number_of(const plan::operand& operand) {
    if (!operand.is_constant) {
      if (has_halves(operand)) make_code(operand.value);
      return operand.value;
    }
    const word constant = storage::word_of(operand.literal, result_.wide);
    auto& constants = result_.constants;
    auto found = std::find(constants.begin(), constants.end(), constant);
    if (found == constants.end()) found = constants.insert(constants.end(), constant);
    return result_.slot_count + static_cast<register_number>(found - constants.begin());
  }
  std::vector<register_number> numbers_of(const std::vector<plan::operand>& operands) {
    std::vector<register_number> numbers;
    for (const plan::operand& operand : operands) numbers.push_back(number_of(operand));
    return numbers;
  }

  // ---- values of 64 bits ----

  /// Reserves registers for the upper halves of slots that hold values without a code, and for keys of searches.
  void reserve_halves(const plan::rule_version& version) {
    holds_halves_.resize(version.slot_count, false);
    upper_of_.resize(version.slot_count, kernels::no_register);
    for (const slot_id slot : slots_of_halves(version)) {
      if (upper_of_[slot.value] == kernels::no_register) upper_of_[slot.value] = result_.slot_count++;
    }
    next_key_ = result_.slot_count;
    result_.slot_count += keys_of_searches(version);
  }
  /// Returns whether the operand is a slot that holds the halves of a value instead of a code.
  [[nodiscard]] bool has_halves(const plan::operand& operand) const {
    return result_.wide != nullptr && !operand.is_constant && holds_halves_[operand.value];
  }
  /// Adds the registers of an argument that is needed as a value.
  void add_value(const plan::operand& operand, std::vector<register_number>& lower,
                 std::vector<register_number>& upper) {
    const bool halves = has_halves(operand);
    lower.push_back(halves ? operand.value : number_of(operand));
    upper.push_back(halves ? upper_of_[operand.value] : kernels::no_register);
  }
  void hold_code(slot_id slot) {
    if (result_.wide != nullptr) holds_halves_[slot.value] = false;
  }
  register_number put_halves(slot_id slot) {
    holds_halves_[slot.value] = true;
    return upper_of_[slot.value];
  }
  step encoding(register_number slot, register_number result) const {
    step made{};
    made.kind = step_kind::compute;
    made.scalar = scalar_op::copy;
    made.is_wide = true;
    made.arguments = {slot};
    made.upper = {upper_of_[slot]};
    made.result = result;
    return made;
  }
  void make_code(register_number slot) {
    add_step(encoding(slot, slot));
    holds_halves_[slot] = false;
  }
  /// Returns the keys of a search. No code is created for a key: a value without a code occurs in no relation.
  std::vector<register_number> keys_of(const std::vector<plan::operand>& operands) {
    std::vector<register_number> numbers;
    for (const plan::operand& operand : operands) {
      if (!has_halves(operand)) {
        numbers.push_back(number_of(operand));
        continue;
      }
      step made = encoding(operand.value, next_key_++);
      made.known_only = true;
      numbers.push_back(made.result);
      add_step(std::move(made));
    }
    return numbers;
  }

  segment& current() {
    begin();
    const expansion_kind last = result_.segments.back().kind;
    if (last == expansion_kind::host || last == expansion_kind::lookups) result_.segments.emplace_back();
    return result_.segments.back();
  }
  /// Starts the first segment: without a preceding atom, one empty binding.
  void begin() {
    if (result_.segments.empty()) result_.segments.emplace_back();
  }

  void add_step(step&& made) {
    const bool needs_lookup = kernels::needs_lookup(made);
    if (!for_device_ || (!needs_lookup && !kernels::needs_host(made))) {
      current().steps.push_back(std::move(made));
      return;
    }
    if (made.is_wide && result_.wide != nullptr) made.records = &result_.wide->numbers();
    begin();
    const expansion_kind own = needs_lookup ? expansion_kind::lookups : expansion_kind::host;
    const segment& last = result_.segments.back();
    const bool other_table = needs_lookup && last.kind == own && last.steps.front().records != made.records;
    if (last.kind != own || other_table) result_.segments.emplace_back().kind = own;
    result_.segments.back().steps.push_back(std::move(made));
  }

  std::size_t level_of(index_id index, std::size_t keys) const {
    const auto& lengths = program_.indexes[index.value].key_lengths;
    return static_cast<std::size_t>(std::find(lengths.begin(), lengths.end(), keys) - lengths.begin());
  }

  void add(const plan::scan& scan) {
    segment& expansion = result_.segments.emplace_back();
    expansion.kind = expansion_kind::scan;
    expansion.part = scan.rows;
    expansion.source = scan.relation.value;
    // Every element is related to itself. In an aggregate, each pair counts.
    if (scan.changed_elements) {
      expansion.scanned = kernels::scan_kind::changed_elements;
    } else if (program_.relations[scan.relation.value].is_equivalence && scan.bindings.size() <= 1 &&
               open_folds_.size() == open_first_matches_.size()) {
      expansion.scanned = kernels::scan_kind::elements;
    }
    for (const plan::column_binding& binding : scan.bindings) {
      hold_code(binding.slot);
      expansion.bindings.push_back({binding.slot.value, binding.column});
    }
  }

  void add(const plan::match& match) {
    std::vector<register_number> keys = keys_of(match.keys);
    segment& expansion = result_.segments.emplace_back();
    expansion.kind = expansion_kind::match;
    expansion.part = match.rows;
    expansion.source = match.relation.value;
    expansion.index = places_[match.index.value].number;
    expansion.level = level_of(match.index, match.keys.size());
    expansion.keys = std::move(keys);
    for (const plan::column_binding& binding : match.bindings) {
      hold_code(binding.slot);
      expansion.bindings.push_back({binding.slot.value, stored_column(match.index, binding.column)});
    }
  }

  /// Returns the position of a column that a match reads: in the relation, or among the stored columns of its index.
  [[nodiscard]] std::uint32_t stored_column(index_id index, std::uint32_t column) const {
    const storage::index_layout layout = make_layout(program_.indexes[index.value], mode_);
    if (layout.positions) return column;
    const auto place = std::find(layout.stored.begin(), layout.stored.end(), column);
    return static_cast<std::uint32_t>(place - layout.stored.begin());
  }

  /// Returns whether all keys have codes. Otherwise each search would look up codes, and searches are not combined.
  [[nodiscard]] bool keys_are_codes(const plan::match& match, const std::vector<plan::operation>& operations) const {
    const auto are_codes = [this](const std::vector<plan::operand>& keys) {
      return std::none_of(keys.begin(), keys.end(), [this](const plan::operand& key) { return has_halves(key); });
    };
    return are_codes(match.keys) && std::all_of(match.others.begin(), match.others.end(), [&](const auto& other) {
             return are_codes(other.keys) && are_codes(std::get<plan::exists>(operations[other.test]).keys);
           });
  }

  /// Adds the alternative searches of a match, each with tests of all the other relations.
  void add_choices(const plan::match& match, const std::vector<plan::operation>& operations) {
    segment& expansion = result_.segments.back();
    std::vector<step> tests;
    plan::exists own{match.relation, row_part::all, false, {}, {}};
    own.keys.resize(match.keys.size() + 1);
    const std::vector<std::uint32_t>& order = program_.indexes[match.index.value].order;
    for (std::size_t number = 0; number < match.keys.size(); ++number) own.keys[order[number]] = match.keys[number];
    own.keys[match.bindings.front().column] = plan::operand::slot(match.bindings.front().slot);
    tests.push_back(make_test(own));
    expansion.choices.push_back(
        {expansion.source, expansion.index, expansion.level, expansion.keys, expansion.bindings.front(), {}});
    for (const plan::other_search& other : match.others) {
      tests.push_back(make_test(std::get<plan::exists>(operations[other.test])));
      expansion.choices.push_back({other.relation.value,
                                   places_[other.index.value].number,
                                   level_of(other.index, other.keys.size()),
                                   numbers_of(other.keys),
                                   {expansion.bindings.front().target, stored_column(other.index, other.column)},
                                   {}});
    }
    for (std::size_t choice = 0; choice < tests.size(); ++choice) {
      for (std::size_t number = 0; number < tests.size(); ++number) {
        if (number != choice) expansion.choices[choice].checks.push_back(tests[number]);
      }
    }
  }

  void add(const plan::exists& exists) { add_step(make_test(exists)); }

  step make_test(const plan::exists& exists) {
    step made{};
    made.negated = exists.negated;
    made.tests_erasure = exists.tests_erasure;
    made.part = exists.rows;
    made.source = exists.relation.value;
    made.arguments = keys_of(exists.keys);
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
    const bool is_copy_of_code = compute.op == scalar_op::copy && !has_halves(compute.arguments.front());
    if (result_.wide != nullptr && !kernels::needs_host(compute.op) && !is_copy_of_code) {
      made.is_wide = true;
      for (const plan::operand& argument : compute.arguments) add_value(argument, made.arguments, made.upper);
      made.upper_result = put_halves(compute.result);
    } else {
      made.arguments = numbers_of(compute.arguments);
      hold_code(compute.result);
    }
    if (on_cpu_ && can_go_before_expansion(made, result_)) {
      const std::size_t before = result_.segments.size() - 2;
      result_.segments[before].steps.push_back(std::move(made));
      last_place_ = {before, result_.segments[before].steps.size() + 1};
    } else {
      add_step(std::move(made));
    }
  }

  void add(const plan::filter& filter) {
    step made{};
    made.kind = step_kind::filter;
    made.comparison = filter.op;
    if (compares_values(filter)) {
      made.is_wide = true;
      add_value(filter.left, made.arguments, made.upper);
      add_value(filter.right, made.arguments, made.upper);
    } else {
      const register_number left = number_of(filter.left);
      made.arguments = {left, number_of(filter.right)};
    }
    add_step(std::move(made));
  }

  /// Returns whether the comparison needs values instead of codes. Codes suffice for equality if both operands have
  /// codes, except for floats.
  [[nodiscard]] bool compares_values(const plan::filter& filter) const {
    if (result_.wide == nullptr || kernels::needs_host(filter.op)) return false;
    const bool is_identity = filter.op == comparison_op::equal || filter.op == comparison_op::not_equal;
    return !is_identity || has_halves(filter.left) || has_halves(filter.right);
  }

  void add(const plan::pack& pack) {
    step made{};
    made.kind = pack.known_only ? step_kind::find_record : step_kind::pack;
    made.result = pack.result.value;
    made.arguments = pack.known_only ? keys_of(pack.fields) : numbers_of(pack.fields);
    hold_code(pack.result);
    made.records = records_of(pack.fields.size());
    add_step(std::move(made));
  }

  void add(const plan::unpack& unpack) {
    step made{};
    made.kind = step_kind::unpack;
    made.arguments = {number_of(unpack.record)};
    made.records = records_of(unpack.arity);
    for (const plan::field_binding& binding : unpack.bindings) {
      hold_code(binding.slot);
      made.bindings.push_back({binding.slot.value, binding.field});
    }
    add_step(std::move(made));
  }

  storage::record_table* records_of(std::size_t arity) {
    return tables_.records == nullptr ? nullptr : &(*tables_.records)[static_cast<std::uint32_t>(arity)];
  }

  void add(const plan::generate& generate) {
    begin();
    segment made;
    made.kind = expansion_kind::range;
    made.value = generate.kind;
    made.bindings.push_back({generate.result.value, 0});
    if (result_.wide == nullptr) {
      made.keys = numbers_of(generate.arguments);
    } else {
      for (const plan::operand& argument : generate.arguments) add_value(argument, made.keys, made.upper_keys);
      made.upper_value = put_halves(generate.result);
    }
    result_.segments.push_back(std::move(made));
  }

  void add(const plan::fold_begin&) { begin_fold(); }

  segment& begin_fold() {
    begin();
    open_folds_.push_back(result_.segments.size());
    halves_before_folds_.push_back(holds_halves_);
    segment& made = result_.segments.emplace_back();
    made.kind = expansion_kind::fold;
    made.owner = next_owner_++;
    return made;
  }

  /// Ends a fold; afterwards the bindings from before the fold continue.
  segment& end_fold() {
    holds_halves_ = std::move(halves_before_folds_.back());
    halves_before_folds_.pop_back();
    result_.segments[open_folds_.back()].unfold = result_.segments.size();
    open_folds_.pop_back();
    segment& made = result_.segments.emplace_back();
    made.kind = expansion_kind::unfold;
    return made;
  }

  void end_first_match() {
    open_first_matches_.pop_back();
    const register_number owner = result_.segments[open_folds_.back()].owner;
    segment& last = current();
    last.ended_fold = open_folds_.back();
    last.folded = owner;
    end_fold().result = owner;  // not read
  }

  /// Ends the first matches of a device that end before the operator.
  void end_begun_first_matches(std::size_t number) {
    while (!begun_first_matches_.empty() && begun_first_matches_.back().second == number) {
      segment& last = result_.segments.back();
      last.first_match_from = begun_first_matches_.back().first;
      last.first_match_steps = last.steps.size();
      begun_first_matches_.pop_back();
    }
  }

  /// Marks the expansions that only need a first match.
  void find_first_match_bodies() {
    std::vector<std::size_t> open;
    for (std::size_t number = 0; number < result_.segments.size(); ++number) {
      segment& here = result_.segments[number];
      if (here.kind == expansion_kind::unfold) open.pop_back();
      if (!open.empty() && result_.segments[open.back()].first_match) here.first_match_around = open.back();
      if (here.kind == expansion_kind::fold) open.push_back(number);
    }
  }

  void add(const plan::fold_end& end) {
    std::vector<register_number> folded;
    std::vector<register_number> upper;
    if (result_.wide == nullptr || end.op == fold_op::functor) {
      folded.push_back(number_of(end.value));
    } else {
      add_value(end.value, folded, upper);
    }
    segment& last = current();
    last.ended_fold = open_folds_.back();
    last.folded = folded.front();
    if (!upper.empty()) last.upper_folded = upper.front();
    last.fold = end.op;
    last.is_signed = kinds_[end.result.value] != value_kind::unsigned_number;
    last.called = end.functor;
    last.initial = storage::word_of(end.initial, result_.wide);
    last.folds_row_counts = kernels::needs_row_counts_only(last);
    segment& made = end_fold();
    made.result = end.result.value;
    if (result_.wide == nullptr) return;
    // A device has the values of all groups at once; values that need codes get them in a separate step.
    if (for_device_) {
      made.upper_value = put_halves(end.result);
    } else {
      hold_code(end.result);
    }
  }

  void add(const plan::insert& insert) {
    current();
    result_.target = insert.relation.value;
    result_.head = numbers_of(insert.values);
    current();
  }

  const plan::program& program_;
  const std::vector<value_kind>& kinds_;  // by slot
  const std::vector<index_place>& places_;
  storage::storage_mode mode_;
  pipeline_tables tables_;
  bool for_device_;
  bool on_cpu_;
  kernels::pipeline result_;
  std::vector<step_place> behind_operators_;     // by operator of the version
  std::optional<step_place> last_place_;         // of an operator that is not at the end of the pipeline
  std::vector<std::size_t> open_folds_;          // segments
  std::vector<std::size_t> open_first_matches_;  // ends of open first matches among the operators
  // For a device: the first segment of each first match, and the position of its end among the operators.
  std::vector<std::pair<std::size_t, std::size_t>> begun_first_matches_;
  register_number next_owner_ = 0;
  std::vector<register_number> upper_of_;  // by slot: register of the upper half, or no_register
  register_number next_key_ = 0;
  std::vector<bool> holds_halves_;                      // whether a slot holds the halves of a value
  std::vector<std::vector<bool>> halves_before_folds_;  // holds_halves_ before each open fold
};

}  // namespace

kernels::pipeline build_pipeline(const plan::rule_version& version, const plan::program& program,
                                 const std::vector<index_place>& places, storage::storage_mode mode,
                                 const pipeline_tables& tables, bool for_device, bool with_choices) {
  return builder(version, program, places, mode, tables, for_device, with_choices).take();
}

}  // namespace gpulog::exec
