package dev.doorbell.experiments.config.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.document.SourcePositions;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.kernel.KernelStructure.WorldNumber;
import dev.doorbell.experiments.config.schema.SchemaChecker.Suggestions;
import dev.doorbell.experiments.config.value.Sweep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

final class KernelStructureReader {
  private static final String CODE = "DB-K011";
  private static final String SECTION = "/args";

  /** {@code u64}, {@code u8[16]}, {@code be32[rank]}, {@code u32@40}; then the values. */
  private static final Pattern FIELD =
      Pattern.compile("(\\w+)(?:\\[(\\w+)\\])?(?:@(\\d{1,9}))?(?:\\s+(.*))?", Pattern.DOTALL);

  private static final int MOST_NUMBERS = 1 << 20;

  private final JsonNode root;
  private final List<String> multicasts;
  private final SourcePositions positions;
  private final List<Problem> problems;

  KernelStructureReader(
      JsonNode root, List<String> multicasts, SourcePositions positions, List<Problem> problems) {
    this.root = root;
    this.multicasts = multicasts;
    this.positions = positions;
    this.problems = problems;
  }

  List<KernelStructure> read() {
    Formula.Names names = new Formula.Names(names(), List.of());
    List<KernelStructure> structures = new ArrayList<>();
    root.path("args")
        .properties()
        .forEach(entry -> structures.add(structure(entry.getKey(), entry.getValue(), names)));
    return structures;
  }

  /**
   * Returns the names that values may use: the world, addresses of the structures and of their
   * fields, and those of multicast objects.
   */
  private List<String> names() {
    List<String> names = new ArrayList<>(WorldNumber.words());
    for (Map.Entry<String, JsonNode> structure : root.path("args").properties()) {
      names.add("args." + structure.getKey());
      for (String field : structure.getValue().path("fields").propertyNames()) {
        names.add("args.%s.%s".formatted(structure.getKey(), field));
      }
    }
    multicasts.forEach(name -> names.add(KernelStructure.MULTICAST + name));
    return names;
  }

  private KernelStructure structure(String name, JsonNode node, Formula.Names names) {
    String pointer = SourcePositions.child(SECTION, name);
    List<KernelStructure.Field> fields = new ArrayList<>();
    node.get("fields")
        .properties()
        .forEach(
            entry -> {
              String at = SourcePositions.child(pointer + "/fields", entry.getKey());
              field(entry.getKey(), entry.getValue().asString(), at, names).ifPresent(fields::add);
            });
    KernelStructure structure =
        new KernelStructure(
            name,
            KernelStructure.Each.of(node.path("each").asString("once")),
            Optional.ofNullable(node.get("symbol")).map(JsonNode::asString),
            node.path("pass").asString("address").equals("value"),
            node.path("in").asString("gpu").equals("host"),
            node.path("bytes").asLong(0),
            fields);
    check(structure, pointer);
    return structure;
  }

  private void check(KernelStructure structure, String pointer) {
    try {
      structure.layout(1, 1);
    } catch (IllegalArgumentException e) {
      problem(pointer, String.valueOf(e.getMessage()), "give offsets in order, or leave them out");
    }
    if (structure.byValue() && !structure.hasFixedSize()) {
      problem(
          pointer + "/pass",
          "the size of %s depends on the world, and a parameter's does not"
              .formatted(structure.name()),
          "pass: address");
    }
    if (structure.symbol().isPresent() && (structure.byValue() || structure.inHost())) {
      problem(
          pointer + "/symbol",
          "%s is a variable of the module: it lies there, and parameters get its address"
              .formatted(structure.name()),
          "leave pass and in out");
    }
  }

  private Optional<KernelStructure.Field> field(
      String name, String text, String pointer, Formula.Names names) {
    Matcher matcher = FIELD.matcher(text.strip());
    if (!matcher.matches()) {
      problem(pointer, "'%s' is no field".formatted(text), "a type and a value: u64 qp.ring");
      return Optional.empty();
    }
    String word = matcher.group(1);
    if (!KernelStructure.Type.words().contains(word)) {
      problems.add(
          Suggestions.unknown(
              positions.ofValue(pointer), "type", word, KernelStructure.Type.words()));
      return Optional.empty();
    }
    KernelStructure.Each each = KernelStructure.Each.ONCE;
    int count = 1;
    String many = matcher.group(2);
    if (many != null && many.matches("\\d{1,7}")) {
      count = Integer.parseInt(many);
    } else if (many != null && (many.equals("rank") || many.equals("queue_pair"))) {
      each = KernelStructure.Each.of(many);
    } else if (many != null) {
      count = 0;
    }
    if (count < 1 || count > MOST_NUMBERS) {
      problem(
          pointer,
          "'%s' is no number of elements".formatted(many),
          "1 to %d, rank or queue_pair".formatted(MOST_NUMBERS));
      return Optional.empty();
    }
    List<Formula> values = values(matcher.group(4), pointer, names);
    if (values.size() > 1 && (each != KernelStructure.Each.ONCE || values.size() != count)) {
      problem(
          pointer,
          "%d values for %s numbers".formatted(values.size(), many == null ? "1" : many),
          "one value for all of them, or one for each");
    }
    String at = matcher.group(3);
    return Optional.of(
        new KernelStructure.Field(
            name,
            KernelStructure.Type.of(word),
            each,
            count,
            at == null ? -1 : Long.parseLong(at),
            values));
  }

  private List<Formula> values(@Nullable String text, String pointer, Formula.Names names) {
    List<Formula> values = new ArrayList<>();
    for (String value : Sweep.split(text == null || text.isBlank() ? "0" : text)) {
      try {
        values.add(Formula.parse(value, names));
      } catch (FormulaException e) {
        problem(pointer, e.why(), "docs/foreign-kernels.md lists what values may name");
        values.add(Formula.ZERO);
      }
    }
    return values;
  }

  private void problem(String pointer, String what, String fix) {
    problems.add(Problem.of(CODE, positions.ofValue(pointer), what).fix(fix));
  }
}
