#include "kernels/functor_table.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "gpulog/functor.hpp"
#include "kernels/functor_call.hpp"

namespace gpulog::kernels {

namespace {

word to_word(souffle::RamDomain value) { return static_cast<word>(value); }
souffle::RamDomain to_domain(word value) { return static_cast<souffle::RamDomain>(value); }

/// The symbol table as functors know it. They get references to texts, so each text that is asked for is kept.
class functor_symbols final : public souffle::SymbolTable {
 public:
  explicit functor_symbols(storage::symbol_table& symbols) : symbols_(symbols) {}

  [[nodiscard]] iterator begin() const override { return iterator(std::make_unique<place>(*this, 0)); }
  [[nodiscard]] iterator end() const override { return iterator(std::make_unique<place>(*this, symbols_.size())); }
  [[nodiscard]] bool weakContains(const std::string& symbol) const override {
    return symbols_.find(symbol).has_value();
  }
  souffle::RamDomain encode(const std::string& symbol) override { return to_domain(symbols_.intern(symbol)); }
  [[nodiscard]] const std::string& decode(souffle::RamDomain index) const override {
    const word number = to_word(index);
    if (number >= symbols_.size())
      throw functor_fault("decodes the number " + std::to_string(index) + ", of no symbol");
    {
      const std::shared_lock<std::shared_mutex> reading(access_);
      const auto found = texts_.find(number);
      if (found != texts_.end()) return found->second;
    }
    const std::unique_lock<std::shared_mutex> writing(access_);
    return texts_.try_emplace(number, symbols_.text(number)).first->second;
  }
  souffle::RamDomain unsafeEncode(const std::string& symbol) override { return encode(symbol); }
  [[nodiscard]] const std::string& unsafeDecode(souffle::RamDomain index) const override { return decode(index); }
  std::pair<souffle::RamDomain, bool> findOrInsert(const std::string& symbol) override {
    const bool is_new = !symbols_.find(symbol);
    return {encode(symbol), is_new};
  }

 private:
  class place final : public souffle::SymbolTableIteratorInterface {
   public:
    place(const functor_symbols& symbols, std::uint64_t number) : symbols_(symbols), number_(number) {}
    [[nodiscard]] const std::pair<const std::string, const std::size_t>& get() const override {
      if (!here_ || here_->second != number_) {
        here_ = std::make_unique<entry>(symbols_.decode(static_cast<souffle::RamDomain>(number_)), number_);
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
  mutable std::unordered_map<word, std::string> texts_;  // nodes do not move
};

class functor_records final : public souffle::RecordTable {
 public:
  explicit functor_records(storage::record_tables& records) : records_(records) {}

  void setNumLanes(std::size_t /*lanes*/) override {}
  souffle::RamDomain pack(const souffle::RamDomain* fields, std::size_t arity) override {
    std::vector<word> words(arity);
    std::transform(fields, fields + arity, words.begin(), to_word);
    return to_domain(table(arity).intern(words.data()));
  }
  souffle::RamDomain pack(const std::initializer_list<souffle::RamDomain>& fields) override {
    return pack(fields.begin(), fields.size());
  }
  [[nodiscard]] const souffle::RamDomain* unpack(souffle::RamDomain record, std::size_t arity) const override {
    const storage::record_table& records = table(arity);
    if (record == to_domain(storage::nil_record)) {
      thread_local std::vector<souffle::RamDomain> zeros;
      zeros.assign(arity, 0);
      return zeros.data();
    }
    if (!records.has(to_word(record))) {
      throw functor_fault("unpacks the number " + std::to_string(record) + ", of no record with " +
                          std::to_string(arity) + " fields");
    }
    // A signed and an unsigned word are one in memory.
    return reinterpret_cast<const souffle::RamDomain*>(records.fields(to_word(record)));
  }
  void enumerate(
      const std::function<void(const souffle::RamDomain*, std::size_t, souffle::RamDomain)>& visit) const override {
    for (std::uint32_t arity = 0; arity < records_.arities(); ++arity) {
      const std::uint64_t size = table(arity).size();
      for (std::uint64_t record = 1; record <= size; ++record) {
        const auto number = static_cast<souffle::RamDomain>(record);
        visit(unpack(number, arity), arity, number);
      }
    }
  }

 private:
  [[nodiscard]] storage::record_table& table(std::size_t arity) const {
    return records_[static_cast<std::uint32_t>(arity)];
  }
  storage::record_tables& records_;
};

/// The texts of a tile's row, ended by a zero byte as C has them.
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

struct functor_table::tables {
  functor_symbols symbols;
  functor_records records;
};

functor_table::functor_table(storage::symbol_table& symbols, storage::record_tables& records)
    : symbols_(&symbols), tables_(new tables{functor_symbols(symbols), functor_records(records)}) {}
functor_table::~functor_table() = default;

void functor_table::add(user_functor described, void* function) {
  functors_.push_back({std::move(described), function});
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
  if (functor.function == nullptr) throw functor_fault("Functor @" + functor.described.name + " is not loaded");
  if (functor.described.stateful) {
    call_stateful(functor, arguments, n, result);
    return;
  }
  const std::vector<value_kind>& kinds = functor.described.parameters;
  c_texts texts(kinds.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    c_call frame;
    for (std::size_t p = 0; p < kinds.size(); ++p) {
      const word value = arguments[p + 1][i];
      if (kinds[p] == value_kind::floating) {
        (void)frame.add(std::bit_cast<float>(value));
      } else if (kinds[p] == value_kind::symbol) {
        (void)frame.add(texts.pointer(p, symbols_->text(value)));
      } else {
        (void)frame.add(std::uintptr_t{value});
      }
    }
    switch (functor.described.result) {
      case value_kind::floating:
        result[i] = std::bit_cast<word>(frame.call<float>(functor.function));
        break;
      case value_kind::symbol: {
        const char* const text = frame.call<const char*>(functor.function);
        if (text == nullptr) throw functor_fault("Functor @" + functor.described.name + " returned no text");
        result[i] = symbols_->intern(text);
        break;
      }
      default:
        result[i] = frame.call<word>(functor.function);
    }
  }
}

void functor_table::call_stateful(const entry& functor, const std::vector<const word*>& arguments, std::uint32_t n,
                                  word* result) const {
  for (std::uint32_t i = 0; i < n; ++i) {
    c_call frame;
    (void)frame.add(reinterpret_cast<std::uintptr_t>(static_cast<souffle::SymbolTable*>(&tables_->symbols)));
    (void)frame.add(reinterpret_cast<std::uintptr_t>(static_cast<souffle::RecordTable*>(&tables_->records)));
    for (std::size_t p = 1; p < arguments.size(); ++p) (void)frame.add(std::uintptr_t{arguments[p][i]});
    try {
      result[i] = frame.call<word>(functor.function);
    } catch (const functor_fault& fault) {
      throw functor_fault("Functor @" + functor.described.name + " " + fault.what());
    }
    if (functor.described.result == value_kind::symbol && result[i] >= symbols_->size()) {
      throw functor_fault("Functor @" + functor.described.name + " returned the number of no symbol");
    }
  }
}

}  // namespace gpulog::kernels
