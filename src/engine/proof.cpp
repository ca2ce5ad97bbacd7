#include "gpulog/proof.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "engine/declarations.hpp"
#include "engine/engine_state.hpp"
#include "engine/proofs/proof_search.hpp"
#include "engine/proofs/tuple_question.hpp"
#include "engine/proofs/tuple_text.hpp"
#include "gpulog/engine.hpp"
#include "gpulog/error.hpp"
#include "sema/print.hpp"

namespace gpulog {
namespace {

/// Runs a proof search, which uses memory of the run.
template <class Search>
auto found_by(detail::engine_state& engine, const Search& search) {
  try {
    return detail::on_stack_for(*engine.run().source, [&] { return search(engine.proof_finder()); });
  } catch (const backend::memory_exceeded& fault) {
    throw detail::out_of_memory("looking for a proof", fault, engine.run().values.memory);
  } catch (const std::length_error& fault) {
    throw memory_limit_error(fault.what());
  }
}

std::string_view name_of(proof::kind kind) {
  switch (kind) {
    case proof::kind::fact:
      return "fact";
    case proof::kind::derived:
      return "derived";
    case proof::kind::cut:
      return "cut";
    case proof::kind::condition:
      return "condition";
    case proof::kind::unknown:
      break;
  }
  return "unknown";
}

nlohmann::ordered_json object_of(const proof& shown) {
  nlohmann::ordered_json document = {{"kind", name_of(shown.what)}, {"text", shown.text}};
  if (shown.what == proof::kind::condition) return document;
  document["relation"] = shown.relation;
  if (shown.what != proof::kind::unknown) document["height"] = shown.height;
  if (!shown.is_least) document["is_least"] = false;
  if (!shown.note.empty()) document["note"] = shown.note;
  if (shown.what != proof::kind::derived) return document;
  document["rule"] = shown.rule;
  document["rule_number"] = shown.rule_number;
  document["location"] = shown.location;
  auto& premises = document["premises"] = nlohmann::ordered_json::array();
  for (const proof& premise : shown.premises) premises.push_back(object_of(premise));
  return document;
}

// ---- drawing --------------------------------------------------------------------------------------------------------

/// Lines of text, from top to bottom.
struct drawing {
  std::vector<std::string> lines;
  std::size_t width = 0;
};

/// Counts UTF-8 characters.
std::size_t width_of(std::string_view text) {
  constexpr unsigned char continuation_mask = 0xc0;
  constexpr unsigned char continuation = 0x80;
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & continuation_mask) != continuation;
  }));
}

drawing drawing_of(const std::string& line) { return {{line}, width_of(line)}; }

/// Places drawings side by side, aligned at the bottom, each followed by a blank.
drawing beside(const std::vector<drawing>& parts) {
  drawing whole;
  std::size_t height = 0;
  for (const drawing& part : parts) height = std::max(height, part.lines.size());
  whole.lines.resize(height);
  for (const drawing& part : parts) {
    const std::size_t above = height - part.lines.size();
    for (std::size_t i = 0; i < part.lines.size(); ++i) {
      std::string& line = whole.lines[above + i];
      line.append(whole.width - std::min(whole.width, width_of(line)), ' ');
      line += part.lines[i];
    }
    whole.width += part.width + 1;
  }
  return whole;
}

/// Draws the premises, a line with the rule, and the centred conclusion below.
drawing inference(const std::vector<drawing>& premises, const std::string& rule, const std::string& conclusion) {
  drawing drawn = beside(premises);
  const std::size_t own = width_of(conclusion);
  drawn.width = std::max({drawn.width, own, rule.size() + 1});
  drawn.lines.push_back(std::string(drawn.width - rule.size(), '-') + rule);
  drawn.lines.push_back(std::string((drawn.width - own) / 2, ' ') + conclusion);
  return drawn;
}

std::string text_of(const drawing& drawn) {
  std::string text;
  for (std::string line : drawn.lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// @param next number of the next name in `cut_names`
drawing drawing_of(const proof& shown, const std::vector<std::string>& cut_names, std::size_t& next) {
  switch (shown.what) {
    case proof::kind::derived:
      break;
    case proof::kind::cut:
      return drawing_of(next < cut_names.size() ? cut_names[next++] : shown.text + " ...");
    default:
      return drawing_of(shown.text);
  }
  std::vector<drawing> premises;
  for (const proof& premise : shown.premises) premises.push_back(drawing_of(premise, cut_names, next));
  return inference(premises, shown.rule_number == 0 ? "(eqrel)" : fmt::format("(R{})", shown.rule_number), shown.text);
}

/// Appends the tuple, and its premises indented below.
void add_tree(const proof& shown, std::size_t depth, const std::vector<std::string>& cut_names, std::size_t& next,
              std::string& text) {
  text.append(2 * depth, ' ');
  if (shown.what == proof::kind::cut) {
    text += (next < cut_names.size() ? cut_names[next++] : shown.text + " ...") + "\n";
    return;
  }
  text += shown.text;
  if (shown.what == proof::kind::derived) {
    text += shown.rule_number == 0 ? std::string("  (eqrel)")
                                   : fmt::format("  (R{}, {})", shown.rule_number, shown.location);
  }
  text += "\n";
  for (const proof& premise : shown.premises) add_tree(premise, depth + 1, cut_names, next, text);
}

}  // namespace

std::string to_json(const proof& shown) {
  return object_of(shown).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string to_text(const proof& shown, const std::vector<std::string>& cut_names, std::size_t columns) {
  std::size_t next = 0;
  const drawing drawn = drawing_of(shown, cut_names, next);
  std::string text;
  if (drawn.width > columns) {
    next = 0;
    add_tree(shown, 0, cut_names, next, text);
  } else {
    text = text_of(drawn);
  }
  if (!shown.note.empty()) text += "no proof is shown: " + shown.note + "\n";
  if (shown.what == proof::kind::derived && !shown.is_least) text += "there may be a proof of less height\n";
  return text;
}

std::string to_text(const failed_rule& shown, const std::string& tuple, std::size_t columns) {
  std::vector<std::string> lines;
  bool has_failed = false;
  for (const failed_rule::part& part : shown.parts) {
    const std::string_view unknown = has_failed ? "" : " ?";
    lines.push_back(part.text + std::string(!part.holds ? unknown : *part.holds ? " ✓" : " ✗"));
    has_failed = has_failed || (part.holds && !*part.holds);
  }
  if (!shown.fits_head) lines.emplace_back("the head is another one ✗");
  std::vector<drawing> parts;
  for (const std::string& line : lines) parts.push_back(drawing_of(line));
  const drawing drawn = inference(parts, fmt::format("(R{})", shown.number), tuple);
  if (drawn.width <= columns) return text_of(drawn);
  std::string text = fmt::format("{}  (R{}, {})\n", tuple, shown.number, shown.location);
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

std::optional<proof> engine::why(std::string_view tuple, std::size_t depth) {
  return found_by(*state_, [&](detail::proof_search& search) {
    const auto [relation, words] = detail::tuple_from_text(state_->run(), tuple);
    return search.why(relation, words, depth);
  });
}

std::vector<failed_rule> engine::why_not(std::string_view tuple, const variable_values& given) {
  return found_by(*state_, [&](detail::proof_search& search) {
    const auto [relation, words] = detail::tuple_from_text(state_->run(), tuple);
    return search.why_not(relation, words, given);
  });
}

tuple_matches engine::matches(std::string_view question, std::size_t most) {
  return found_by(*state_, [&](detail::proof_search& search) {
    return detail::tuple_question(state_->run(), question).answer(search.stored(), most);
  });
}

std::vector<std::string> engine::rules(std::string_view relation) const {
  return detail::on_stack_for(*state_->run().source, [&] {
    const sema::program& program = state_->run().analysed();
    std::vector<std::string> texts;
    for (const rule_id rule : program[detail::relation_named(relation, program)].rules) {
      texts.push_back(sema::source_text(program, program[rule]));
    }
    return texts;
  });
}

}  // namespace gpulog
