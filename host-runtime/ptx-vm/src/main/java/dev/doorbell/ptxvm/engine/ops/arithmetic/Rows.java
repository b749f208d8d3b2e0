package dev.doorbell.ptxvm.engine.ops.arithmetic;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Rows of the opcode table: names as PTX spells them, and a function on register values. Several
 * names may share a function. Values come and go zero-extended from the type's width.
 */
public final class Rows {
  /** A row's function, by its number of operands. */
  public sealed interface Row {}

  public record One(LongUnaryOperator f) implements Row {}

  public record Two(LongBinaryOperator f) implements Row {}

  public record Three(LongTernaryOperator f) implements Row {}

  private final Map<String, Row> rows = new HashMap<>();

  Rows unary(String names, LongUnaryOperator f) {
    return row(names, new One(f));
  }

  Rows binary(String names, LongBinaryOperator f) {
    return row(names, new Two(f));
  }

  Rows ternary(String names, LongTernaryOperator f) {
    return row(names, new Three(f));
  }

  private Rows row(String names, Row row) {
    for (String name : List.of(names.split(" ", -1))) {
      if (rows.put(name, row) != null) {
        throw new IllegalStateException("two rows for " + name);
      }
    }
    return this;
  }

  /** All names, sorted. */
  public List<String> names() {
    return rows.keySet().stream().sorted().toList();
  }

  public @Nullable Row get(String name) {
    return rows.get(name);
  }
}
