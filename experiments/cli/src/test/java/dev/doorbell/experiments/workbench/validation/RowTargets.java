package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Rows of publications and what binds them to points. */
public final class RowTargets {
  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        FuzzTarget.of(
            "rows",
            "published rows",
            () -> List.of(bytes(head("h200.csv")), bytes(head("koc.csv"))),
            Mutator.bytes("\"", "\"\"", ",\"\n\",", "id,machine,what,setup,metric,value,unit\n"),
            refusing(
                input -> {
                  RowFile.parse("fuzz.csv", text(input), new RowFile.Bindings(Map.of()));
                  return Outcome.ACCEPTED;
                })),
        FuzzTarget.of(
            "bindings",
            "points that stand for published rows",
            () -> List.of(bytes(head("bindings.csv"))),
            Mutator.bytes(" | ", "kernel=", "size=", "path=push.inline ", "a * b", "="),
            refusing(
                input -> {
                  RowFile.Bindings bindings = RowFile.Bindings.parse("fuzz.csv", text(input));
                  for (Map.Entry<String, String> each : bindings.configs().entrySet()) {
                    RowConfig.parse(each.getKey(), each.getValue());
                  }
                  return Outcome.ACCEPTED;
                })));
  }

  private static FuzzTarget.Reader refusing(FuzzTarget.Reader reader) {
    return input -> {
      try {
        return reader.read(input);
      } catch (ConfigException _) {
        return Outcome.REFUSED;
      }
    };
  }

  private static String head(String file) {
    return String.join("\n", RowFile.packaged(file).lines().limit(12).toList()) + "\n";
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] input) {
    return new String(input, StandardCharsets.UTF_8);
  }
}
