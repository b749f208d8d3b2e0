package dev.doorbell.ptxvm.parser;

import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Links the modules of several files into one, in link order, by the rules of PTX ISA, "Linking
 * Directives": what is declared {@code .extern} is what another file defines; of the definitions of
 * a name one {@code .visible} wins, else the largest {@code .common}, else the first {@code .weak};
 * what has no directive belongs to its file. An entry without one is visible. What no file defines
 * stays declared: the host may fill such a variable.
 */
final class ModuleLinker {
  /** Visibility of a name to other files. */
  enum Linkage {
    LOCAL,
    VISIBLE,
    WEAK,
    COMMON,
    EXTERN
  }

  /**
   * A name of a file.
   *
   * @param line of its definition, or of its first declaration
   */
  record Symbol(Linkage linkage, int line) {}

  private record File(int number, PtxModule module, Map<String, Symbol> symbols) {}

  /** A function or a variable of a file. */
  private record Item(
      File file, String name, Symbol symbol, @Nullable Function function, @Nullable Variable data) {
    boolean defined() {
      return function != null ? function.defined() : data != null && !data.external();
    }

    /** Returns true if it is the same function or variable of the same file. */
    boolean is(Item other) {
      return file.number == other.file.number && name.equals(other.name);
    }

    boolean strong() {
      return defined()
          && (symbol.linkage == Linkage.VISIBLE
              || (function != null && function.entry() && symbol.linkage == Linkage.LOCAL));
    }

    /** Returns true if other files may mean it by its name. */
    boolean seen() {
      return symbol.linkage != Linkage.LOCAL || strong() || !defined();
    }

    /** {@code .func}, {@code .global}: what a declaration has to agree in. */
    String kind() {
      if (function != null) {
        return function.entry() ? ".entry" : ".func";
      }
      return data == null ? "" : "." + data.space().name().toLowerCase(Locale.ROOT);
    }
  }

  private final String name;
  private final List<String> lines;
  private final List<File> files = new ArrayList<>();
  private final List<Refusal> refusals = new ArrayList<>();

  /** For each name, what stands for it in all files. */
  private final Map<String, Item> chosen = new LinkedHashMap<>();

  ModuleLinker(String name, List<String> lines) {
    this.name = name;
    this.lines = lines;
  }

  void add(PtxModule module, List<Refusal> refused, Map<String, Symbol> symbols) {
    files.add(new File(files.size(), module, symbols));
    refusals.addAll(refused);
  }

  PtxParser.Result link() {
    Map<String, List<Item>> seen = new LinkedHashMap<>();
    for (File file : files) {
      for (Item item : items(file)) {
        if (item.seen()) {
          seen.computeIfAbsent(item.name, _ -> new ArrayList<>()).add(item);
        }
      }
    }
    seen.forEach((word, items) -> chosen.put(word, choose(items)));
    seen.values().forEach(this::check);
    return new PtxParser.Result(merged(), refusals);
  }

  private static List<Item> items(File file) {
    List<Item> items = new ArrayList<>();
    file.module
        .functions()
        .forEach(
            (word, function) ->
                items.add(new Item(file, word, symbol(file, word), function, null)));
    for (Variable variable : file.module.variables()) {
      items.add(new Item(file, variable.name(), symbol(file, variable.name()), null, variable));
    }
    return items;
  }

  private static Symbol symbol(File file, String word) {
    return file.symbols.getOrDefault(word, new Symbol(Linkage.LOCAL, 0));
  }

  private Item choose(List<Item> items) {
    List<Item> strong = items.stream().filter(Item::strong).toList();
    if (strong.size() > 1) {
      Item first = strong.getFirst();
      for (Item again : strong.subList(1, strong.size())) {
        refuse(again, "'%s' is defined twice, first in %s".formatted(again.name, place(first)));
      }
    }
    if (!strong.isEmpty()) {
      return strong.getFirst();
    }
    List<Item> common =
        items.stream().filter(item -> item.symbol.linkage == Linkage.COMMON).toList();
    if (!common.isEmpty()) {
      return largest(common);
    }
    return items.stream().filter(Item::defined).findFirst().orElse(items.getFirst());
  }

  private Item largest(List<Item> common) {
    Item largest = common.getFirst();
    for (Item item : common) {
      largest = bytes(item) > bytes(largest) ? item : largest;
    }
    List<Item> filled =
        common.stream()
            .filter(item -> item.data != null && !item.data.initial().isEmpty())
            .toList();
    if (filled.size() > 1) {
      refuse(
          filled.get(1),
          "common '%s' has an initialiser in two files, first in %s"
              .formatted(largest.name, place(filled.getFirst())));
    }
    if (!filled.isEmpty()) {
      if (bytes(filled.getFirst()) < bytes(largest)) {
        refuse(
            filled.getFirst(),
            "common '%s' has an initialiser here and more bytes, %d, in %s"
                .formatted(largest.name, bytes(largest), place(largest)));
      }
      return filled.getFirst();
    }
    return largest;
  }

  private static long bytes(Item item) {
    return item.data == null ? 0 : item.data.bytes();
  }

  /** Declarations have to agree with what they stand for. */
  private void check(List<Item> items) {
    Item winner = chosen.get(items.getFirst().name);
    if (winner == null) {
      return;
    }
    for (Item item : items) {
      if (item.is(winner) || (item.defined() && item.symbol.linkage != Linkage.EXTERN)) {
        continue;
      }
      String difference = difference(item, winner);
      if (difference != null) {
        refuse(
            item,
            "'%s' is declared %s, and %s in %s"
                .formatted(
                    item.name,
                    difference,
                    winner.defined() ? "defined otherwise" : "declared otherwise",
                    place(winner)));
      }
    }
    if (winner.data != null
        && winner.data.external()
        && winner.data.bytes() == 0
        && winner.data.space() != StateSpace.SHARED) {
      refuse(
          winner,
          "'%s' is defined in none of the files, and its size is not known here"
              .formatted(winner.name));
    }
  }

  /** Returns what a declaration says that its definition does not, or null. */
  private static @Nullable String difference(Item item, Item winner) {
    if (!item.kind().equals(winner.kind())) {
      return item.kind();
    }
    if (item.data != null && winner.data != null) {
      boolean known = item.data.bytes() > 0 && winner.data.bytes() > 0;
      return known && item.data.bytes() != winner.data.bytes()
          ? "with %d bytes".formatted(item.data.bytes())
          : null;
    }
    if (item.function != null && winner.function != null) {
      boolean same =
          same(item.function.parameters(), winner.function.parameters())
              && same(item.function.results(), winner.function.results());
      return same ? null : "with other parameters or results";
    }
    return null;
  }

  private static boolean same(List<Variable> some, List<Variable> others) {
    if (some.size() != others.size()) {
      return false;
    }
    for (int i = 0; i < some.size(); i++) {
      if (some.get(i).bytes() != others.get(i).bytes()) {
        return false;
      }
    }
    return true;
  }

  private void refuse(Item item, String reason) {
    int line = item.symbol.line;
    String text = line >= 1 && line <= lines.size() ? lines.get(line - 1) : "";
    refusals.add(new Refusal(line, text, reason));
  }

  private static PtxModule.Place place(Item item) {
    return item.file.module.place(item.symbol.line);
  }

  /** Everything that is left of the files, under names that are different from each other. */
  private PtxModule merged() {
    Map<String, Function> functions = new LinkedHashMap<>();
    List<Variable> variables = new ArrayList<>();
    Map<Variable, Variable> moved = new HashMap<>(); // variables are equal to themselves alone
    List<Map<String, String>> names = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      names.add(names(files.get(i), i));
    }
    // Variables first: code may name those of later files.
    for (int i = 0; i < files.size(); i++) {
      for (Item item : items(files.get(i))) {
        if (item.data != null && isKept(item)) {
          Variable variable = renamed(item.data, names.get(i));
          moved.put(item.data, variable);
          variables.add(variable);
        }
      }
    }
    for (File file : files) {
      for (Item item : items(file)) {
        Item winner = chosen.get(item.name);
        if (item.data != null && !isKept(item) && winner != null && winner.data != null) {
          moved.put(item.data, moved.getOrDefault(winner.data, winner.data));
        }
      }
    }
    for (int i = 0; i < files.size(); i++) {
      for (Item item : items(files.get(i))) {
        if (item.function != null && isKept(item)) {
          Function function = moved(item.function, names.get(i), moved);
          functions.put(function.name(), function);
        }
      }
    }
    return new PtxModule(
        name,
        newest(),
        target(),
        functions,
        variables,
        lines,
        files.stream().map(file -> file.module.files().getFirst()).toList());
  }

  private boolean isKept(Item item) {
    Item winner = chosen.get(item.name);
    return !item.seen() || (winner != null && winner.is(item));
  }

  /** Names of a file's own that another file has, too, by what they are called in the module. */
  private Map<String, String> names(File file, int number) {
    Map<String, String> names = new HashMap<>();
    for (Item item : items(file)) {
      boolean taken =
          chosen.containsKey(item.name)
              || files.stream()
                  .limit(number)
                  .anyMatch(earlier -> earlier.symbols.containsKey(item.name));
      if (!item.seen() && taken) {
        names.put(item.name, "%s$%d".formatted(item.name, number + 1));
      }
    }
    return names;
  }

  private static Variable renamed(Variable of, Map<String, String> names) {
    return new Variable(
        names.getOrDefault(of.name(), of.name()),
        of.space(),
        of.type(),
        of.bytes(),
        of.align(),
        of.external(),
        of.initial().stream()
            .map(
                part ->
                    new Variable.Initial(
                        part.offset(), part.bytes(), moved(part.value(), names, Map.of())))
            .toList());
  }

  private static Function moved(
      Function of, Map<String, String> names, Map<Variable, Variable> variables) {
    return new Function(
        names.getOrDefault(of.name(), of.name()),
        of.entry(),
        of.parameters(),
        of.results(),
        of.isLate()
            ? Function.Content.late(() -> movedBody(of, names, variables))
            : Function.Content.of(movedBody(of, names, variables)),
        of.defined(),
        of.line());
  }

  private static Function.Body movedBody(
      Function of, Map<String, String> names, Map<Variable, Variable> variables) {
    List<Instruction> code = new ArrayList<>(of.code().size());
    for (Instruction instruction : of.code()) {
      code.add(instruction.with(operand -> moved(operand, names, variables)));
    }
    return new Function.Body(of.registers(), of.locals(), of.shared(), code, of.refusals());
  }

  private static List<Operand> moved(
      List<Operand> operands, Map<String, String> names, Map<Variable, Variable> variables) {
    List<Operand> moved = new ArrayList<>(operands.size());
    operands.forEach(operand -> moved.add(moved(operand, names, variables)));
    return List.copyOf(moved);
  }

  private static Operand moved(
      Operand operand, Map<String, String> names, Map<Variable, Variable> variables) {
    return switch (operand) {
      case Operand.Symbol(Variable variable, long offset, boolean generic)
          when variables.containsKey(variable) ->
          new Operand.Symbol(variables.getOrDefault(variable, variable), offset, generic);
      case Operand.FunctionName(String word) when names.containsKey(word) ->
          new Operand.FunctionName(names.getOrDefault(word, word));
      case Operand.Name(String word) when names.containsKey(word) ->
          new Operand.Name(names.getOrDefault(word, word));
      case Operand.Address(Operand.Symbol base, long offset) ->
          new Operand.Address(moved(base, names, variables), offset);
      case Operand.Vector(List<Operand> elements) ->
          new Operand.Vector(moved(elements, names, variables));
      case Operand.Arguments(List<Operand> elements) ->
          new Operand.Arguments(moved(elements, names, variables));
      case Operand.Pair(Operand first, Operand second) ->
          new Operand.Pair(moved(first, names, variables), moved(second, names, variables));
      default -> operand;
    };
  }

  private String newest() {
    return files.stream().map(file -> file.module.version()).max(String::compareTo).orElse("");
  }

  /** The target that needs most. */
  private String target() {
    String most = "";
    int number = -1;
    for (File file : files) {
      String digits = file.module.target().replaceAll("[^0-9]", "");
      int needed = digits.isEmpty() || digits.length() > 4 ? 0 : Integer.parseInt(digits);
      if (needed > number) {
        number = needed;
        most = file.module.target();
      }
    }
    return most;
  }
}
