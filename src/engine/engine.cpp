#include "gpulog/engine.hpp"

#include <cstdint>
#include <utility>

#include "engine/declarations.hpp"
#include "engine/engine_state.hpp"
#include "engine/rows/shown_rows.hpp"
#include "io/files/output_files.hpp"

namespace gpulog {

engine::engine(const program& source, run_options options) {
  if (!source.ok()) throw input_error("The program was rejected:\n" + source.report());
  state_ = detail::on_stack_for(
      *source.state(), [&] { return std::make_shared<detail::engine_state>(source.state(), std::move(options)); });
}

engine::~engine() = default;
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;

std::optional<relation> engine::find(std::string_view name) {
  const auto number = state_->run().analysed().find_relation(std::string(name));
  if (!number) return std::nullopt;
  return gpulog::relation(state_.get(), number->value);
}

relation engine::relation(std::string_view name) {
  return gpulog::relation(state_.get(), detail::relation_named(name, state_->run().analysed()).value);
}

std::vector<relation> engine::relations() {
  std::vector<gpulog::relation> result;
  for (std::uint32_t number = 0; number < state_->run().analysed().relations.size(); ++number) {
    if (!state_->run().analysed().relations[number].is_query) result.push_back(gpulog::relation(state_.get(), number));
  }
  return result;
}

std::optional<run_step> engine::now(double patience) const { return state_->report().now(patience); }

void engine::load() { state_->load(); }

void engine::evaluate() {
  detail::on_stack_for(*state_->run().source, [this] { state_->evaluate(); });
  state_->report_changes([this](std::uint32_t number) { return changes_of(number); });
}

answer engine::query(std::string body) {
  const program next = read_query(std::move(body));
  if (state_->must_evaluate_first()) evaluate();
  return detail::on_stack_for(*next.state(), [&] { return answer(state_->rows_of_query(next.state())); });
}

changed_rows engine::changes(std::string_view relation) const {
  return changes_of(detail::relation_named(relation, state_->run().analysed()).value);
}

changed_rows engine::changes_of(std::uint32_t number) const {
  auto [added, removed] = state_->changes_of(number);
  return {answer({state_, number, std::move(added)}), answer({state_, number, std::move(removed)})};
}

void engine::on_change(std::string_view relation, std::function<void(const changed_rows&)> function) {
  state_->on_change(detail::relation_named(relation, state_->run().analysed()).value, std::move(function));
}

bool engine::change_program(const program& next) { return state_->change_program(next.state()); }

void engine::reset() { state_->reset(); }

void engine::write() { state_->write(); }

void engine::save(const std::string& path) { state_->save(path); }

void engine::restore(const std::string& path) { state_->restore(path); }

const statistics& engine::run() {
  state_->begin_run();
  load();
  evaluate();
  write();
  state_->end_run();
  return figures();
}

bool engine::uses_device() const { return state_->run().device && state_->run().device->has_begun(); }

const statistics& engine::figures() const { return state_->run().figures; }

void remove_unfinished_outputs() noexcept { io::remove_unfinished_outputs(); }

std::string write_unfinished_reports(const std::string& why) noexcept {
  return detail::run_report::write_unfinished(why);
}

}  // namespace gpulog
