package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.problem.ConfigException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Configs of rows by id, kept apart from the rows, which are facts of their sources. */
record Bindings(Map<String, String> configs) {
  private static final String FILE = "bindings.csv";

  /** Bindings of the rows that come with the program. */
  static Bindings builtIn() {
    try {
      return parse(FILE, RowFile.packaged(FILE));
    } catch (ConfigException e) {
      throw new IllegalStateException("the file of bindings is broken: " + e.problems(), e);
    }
  }

  static Bindings parse(String file, String text) throws ConfigException {
    Map<String, String> configs = new LinkedHashMap<>();
    CsvTable.read(file, text, List.of("id", "config"), List.of())
        .lines()
        .forEach(line -> configs.put(line.text("id"), line.text("config")));
    return new Bindings(configs);
  }

  /** The config of a row; empty where there is none. */
  String config(String id) {
    return configs.getOrDefault(id, "");
  }
}
