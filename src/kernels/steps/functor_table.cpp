#include "kernels/steps/functor_table.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "gpulog/functor.hpp"
#include "kernels/steps/functor_call.hpp"
#include "kernels/steps/registered_call.hpp"
#include "kernels/steps/scalar.hpp"
#include "support/error.hpp"

namespace gpulog::kernels {

namespace {

/// Values as functors receive them: std::int32_t or std::int64_t, by word size.
template <class Domain>
word to_word(Domain value, storage::wide_values* wide) {
  return storage::word_of(static_cast<std::make_unsigned_t<Domain>>(value), wide);
}
template <class Domain>
Domain to_domain(word stored, const storage::wide_values* wide) {
  return static_cast<Domain>(storage::value_of(stored, wide));
}

/// The symbol table as functors see it. Functors receive references to texts, so every requested text stays allocated.
template <class Domain>
class functor_symbols final : public souffle::BasicSymbolTable<Domain> {
 public:
  using iterator = typename souffle::BasicSymbolTable<Domain>::iterator;

  explicit functor_symbols(storage::symbol_table& symbols) : symbols_(symbols) {}

  [[nodiscard]] iterator begin() const override { return iterator(std::make_unique<place>(*this, 0)); }
  [[nodiscard]] iterator end() const override { return iterator(std::make_unique<place>(*this, symbols_.size())); }
  [[nodiscard]] bool weakContains(const std::string& symbol) const override {
    return symbols_.find(symbol).has_value();
  }
  Domain encode(const std::string& symbol) override { return static_cast<Domain>(symbols_.intern(symbol)); }
  [[nodiscard]] const std::string& decode(Domain index) const override {
    if (index < 0 || static_cast<std::uint64_t>(index) >= symbols_.size())
      throw functor_fault("decodes the number " + std::to_string(index) + ", of no symbol");
    const auto number = static_cast<word>(index);
    {
      const std::shared_lock<std::shared_mutex> reading(access_);
      const auto found = texts_.find(number);
      if (found != texts_.end()) return found->second;
    }
    const std::unique_lock<std::shared_mutex> writing(access_);
    return texts_.try_emplace(number, symbols_.text(number)).first->second;
  }
  Domain unsafeEncode(const std::string& symbol) override { return encode(symbol); }
  [[nodiscard]] const std::string& unsafeDecode(Domain index) const override { return decode(index); }
  std::pair<Domain, bool> findOrInsert(const std::string& symbol) override {
    const bool is_new = !symbols_.find(symbol);
    return {encode(symbol), is_new};
  }

 private:
  class place final : public souffle::SymbolTableIteratorInterface {
   public:
    place(const functor_symbols& symbols, std::uint64_t number) : symbols_(symbols), number_(number) {}
    [[nodiscard]] const std::pair<const std::string, const std::size_t>& get() const override {
      if (!here_ || here_->second != number_) {
        here_ = std::make_unique<entry>(symbols_.decode(static_cast<Domain>(number_)), number_);
      }
      return *here_;
    }
    bool equals(const SymbolTableIteratorInterface& other) override {
      return number_ == static_cast<const place&>(other).number_;
    }
    SymbolTableIteratorInterface& incr() override {
      ++number_;
      return *this;
    }
    [[nodiscard]] std::unique_ptr<SymbolTableIteratorInterface> copy() const override {
      return std::make_unique<place>(symbols_, number_);
    }

   private:
    using entry = std::pair<const std::string, const std::size_t>;
    const functor_symbols& symbols_;
    std::uint64_t number_;
    mutable std::unique_ptr<entry> here_;
  };

  storage::symbol_table& symbols_;
  mutable std::shared_mutex access_;
  mutable std::unordered_map<word, std::string> texts_;  // references to nodes are stable
};

template <class Domain>
class functor_records final : public souffle::BasicRecordTable<Domain> {
 public:
  functor_records(storage::record_tables& records, storage::wide_values* wide) : records_(records), wide_(wide) {}

  void setNumLanes(std::size_t /*lanes*/) override {}
  Domain pack(const Domain* fields, std::size_t arity) override {
    std::vector<word> words(arity);
    std::transform(fields, fields + arity, words.begin(), [this](Domain field) { return to_word(field, wide_); });
    return static_cast<Domain>(table(arity).intern(words.data()));
  }
  Domain pack(const std::initializer_list<Domain>& fields) override { return pack(fields.begin(), fields.size()); }
  [[nodiscard]] const Domain* unpack(Domain record, std::size_t arity) const override {
    const storage::record_table& records = table(arity);
    if (record == Domain{storage::nil_record}) {
      thread_local std::vector<Domain> zeros;
      zeros.assign(arity, 0);
      return zeros.data();
    }
    const auto number = static_cast<word>(record);
    if (record != static_cast<Domain>(number) || !records.has(number)) {
      throw functor_fault("unpacks the number " + std::to_string(record) + ", of no record with " +
                          std::to_string(arity) + " fields");
    }
    return fields_of(records, number, arity);
  }
  void enumerate(const std::function<void(const Domain*, std::size_t, Domain)>& visit) const override {
    for (std::uint32_t arity = 0; arity < records_.arities(); ++arity) {
      const std::uint64_t size = table(arity).size();
      for (std::uint64_t record = 1; record <= size; ++record) {
        const auto number = static_cast<Domain>(record);
        visit(unpack(number, arity), arity, number);
      }
    }
  }

 private:
  [[nodiscard]] storage::record_table& table(std::size_t arity) const {
    return records_[static_cast<std::uint32_t>(arity)];
  }
  [[nodiscard]] const Domain* fields_of(const storage::record_table& records, word number, std::size_t arity) const {
    const word* const words = records.fields(number);
    if constexpr (sizeof(Domain) == sizeof(word)) {
      // Signed and unsigned words have the same representation.
      return reinterpret_cast<const Domain*>(words);
    } else {
      const std::lock_guard<std::mutex> lock(access_);
      std::vector<Domain>& values = unpacked_[{number, arity}];
      if (values.empty()) {
        for (std::size_t field = 0; field < arity; ++field) values.push_back(to_domain<Domain>(words[field], wide_));
      }
      return values.data();
    }
  }

  storage::record_tables& records_;
  storage::wide_values* wide_;
  mutable std::mutex access_;
  /// By number and arity: decoded fields that a functor has requested; the table holds codes.
  mutable std::map<std::pair<word, std::size_t>, std::vector<Domain>> unpacked_;
};

/// The zero-terminated texts of a tile's row.
class c_texts {
 public:
  explicit c_texts(std::size_t parameters) : texts_(parameters) {}
  [[nodiscard]] std::uintptr_t pointer(std::size_t parameter, std::string_view text) {
    texts_[parameter].assign(text);
    return reinterpret_cast<std::uintptr_t>(texts_[parameter].c_str());
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

template <class Domain>
struct functor_table::tables_of {
  using domain = Domain;
  tables_of(storage::symbol_table& symbol_table, storage::record_tables& record_tables, storage::wide_values* wide)
      : symbols(symbol_table), records(record_tables, wide) {}
  functor_symbols<Domain> symbols;
  functor_records<Domain> records;
};

struct functor_table::tables {
  tables(storage::symbol_table& symbols, storage::record_tables& records, storage::wide_values* wide) {
    if (wide == nullptr) {
      small.emplace(symbols, records, wide);
    } else {
      large.emplace(symbols, records, wide);
    }
  }
  std::optional<tables_of<std::int32_t>> small;
  std::optional<tables_of<std::int64_t>> large;
};

functor_table::functor_table(storage::symbol_table& symbols, storage::record_tables& records,
                             storage::wide_values* wide)
    : symbols_(&symbols), wide_(wide), tables_(std::make_unique<tables>(symbols, records, wide)) {}
functor_table::~functor_table() = default;

void functor_table::add(user_functor described, void* function) {
  functors_.push_back({std::move(described), function});
}

void functor_table::add(user_functor described, const registered_functor& function) {
  functors_.push_back({std::move(described), nullptr, &function});
}

std::string why_not_callable(const user_functor& described) {
  if constexpr (!has_c_calls) return "functors of libraries cannot be called on this kind of machine";
  c_call trial;
  bool fits = true;
  if (described.stateful) fits = trial.add(std::uintptr_t{0}) && trial.add(std::uintptr_t{0});
  for (const value_kind kind : described.parameters) {
    const bool as_float = kind == value_kind::floating && !described.stateful;
    fits = fits && (as_float ? trial.add(0.0F) : trial.add(std::uintptr_t{0}));
  }
  return fits ? "" : "it has too many parameters";
}

void functor_table::call(const std::vector<const word*>& arguments, std::uint32_t n, word* result) const {
  if (n == 0) return;
  const entry& functor = functors_[arguments.front()[0]];
  if (functor.registered != nullptr) {
    const std::vector<const word*> columns(arguments.begin() + 1, arguments.end());
    return call_registered(functor.described, *functor.registered, columns, n, result, *symbols_, wide_);
  }
  ensure(functor.function != nullptr, "a functor that rules call has a function");
  if (functor.described.stateful && wide_ == nullptr) {
    call_stateful(functor, *tables_->small, arguments, n, result);
  } else if (functor.described.stateful) {
    call_stateful(functor, *tables_->large, arguments, n, result);
  } else if (wide_ == nullptr) {
    call_plain<std::uint32_t>(functor, arguments, n, result);
  } else {
    call_plain<std::uint64_t>(functor, arguments, n, result);
  }
}

template <class Word>
void functor_table::call_plain(const entry& functor, const std::vector<const word*>& arguments, std::uint32_t n,
                               word* result) const {
  const std::vector<value_kind>& kinds = functor.described.parameters;
  c_texts texts(kinds.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    c_call frame;
    for (std::size_t p = 0; p < kinds.size(); ++p) {
      const word stored = arguments[p + 1][i];
      if (kinds[p] == value_kind::symbol) {
        (void)frame.add(texts.pointer(p, symbols_->text(stored)));
        continue;
      }
      const Word value = static_cast<Word>(storage::value_of(stored, wide_));
      if (kinds[p] == value_kind::floating) {
        (void)frame.add(as_float(value));
      } else {
        (void)frame.add(static_cast<std::uintptr_t>(value));
      }
    }
    switch (functor.described.result) {
      case value_kind::floating:
        result[i] = storage::word_of(std::bit_cast<Word>(frame.call<float_of<Word>>(functor.function)), wide_);
        break;
      case value_kind::symbol: {
        const char* const text = frame.call<const char*>(functor.function);
        if (text == nullptr) throw functor_fault("Functor @" + functor.described.name + " returned no text");
        result[i] = symbols_->intern(text);
        break;
      }
      default:
        result[i] = storage::word_of(frame.call<Word>(functor.function), wide_);
    }
  }
}

template <class Tables>
void functor_table::call_stateful(const entry& functor, Tables& seen, const std::vector<const word*>& arguments,
                                  std::uint32_t n, word* result) const {
  using domain = typename Tables::domain;
  using symbol_interface = souffle::BasicSymbolTable<domain>;
  using record_interface = souffle::BasicRecordTable<domain>;
  for (std::uint32_t i = 0; i < n; ++i) {
    c_call frame;
    (void)frame.add(reinterpret_cast<std::uintptr_t>(static_cast<symbol_interface*>(&seen.symbols)));
    (void)frame.add(reinterpret_cast<std::uintptr_t>(static_cast<record_interface*>(&seen.records)));
    for (std::size_t p = 1; p < arguments.size(); ++p) {
      (void)frame.add(static_cast<std::uintptr_t>(storage::value_of(arguments[p][i], wide_)));
    }
    try {
      result[i] = to_word(frame.call<domain>(functor.function), wide_);
    } catch (const functor_fault& fault) {
      throw functor_fault("Functor @" + functor.described.name + " " + fault.what());
    }
    if (functor.described.result == value_kind::symbol && result[i] >= symbols_->size()) {
      throw functor_fault("Functor @" + functor.described.name + " returned the number of no symbol");
    }
  }
}

}  // namespace gpulog::kernels
