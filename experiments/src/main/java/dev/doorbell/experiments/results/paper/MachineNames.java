package dev.doorbell.experiments.results.paper;

import dev.doorbell.experiments.results.claims.Expression;
import dev.doorbell.experiments.results.claims.ModelNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The medians that calibrate wrote into a file, by their names. */
final class MachineNames implements Expression.Names {
  private final ModelNames functions = new ModelNames();
  private final Path file;
  private final SequencedMap<String, Measured> measured = new LinkedHashMap<>();

  /** One quantity with its interval. */
  record Measured(
      String name, String what, String unit, double median, double lower, double upper) {}

  MachineNames(Path file) throws IOException {
    this.file = file;
    try {
      JsonNode root = JsonMapper.builder().build().readTree(Files.readString(file));
      for (JsonNode each : root.path("measurements")) {
        String name = each.path("name").asString();
        measured.put(
            name,
            new Measured(
                name,
                each.path("what").asString(""),
                each.path("unit").asString(""),
                each.path("median").asDouble(),
                each.path("ci95").path(0).asDouble(),
                each.path("ci95").path(1).asDouble()));
      }
    } catch (JacksonException e) {
      throw new IOException("%s is no JSON: %s".formatted(file, e.getOriginalMessage()));
    }
  }

  SequencedMap<String, Measured> all() {
    return measured;
  }

  @Override
  public double call(String function, List<Double> arguments) throws Expression.Unknown {
    return functions.call(function, arguments);
  }

  @Override
  public double select(String name, SequencedMap<String, String> settings)
      throws Expression.Unknown {
    Measured found = measured.get(name);
    if (found == null || !settings.isEmpty()) {
      throw new Expression.Unknown("%s has no measurement '%s'".formatted(file, name));
    }
    return found.median();
  }
}
