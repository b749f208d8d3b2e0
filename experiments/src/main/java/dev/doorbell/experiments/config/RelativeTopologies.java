package dev.doorbell.experiments.config;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Topology files that an experiment names as seen from its own folder. They become paths as seen
 * from where the program was started, which is what a run keeps and what {@code -s} means; a file
 * that is there by the name as written is taken first.
 */
final class RelativeTopologies {
  private static final String KEY = "placement";

  private final Path experiment;

  private RelativeTopologies(Path experiment) {
    this.experiment = experiment;
  }

  /**
   * Rewrites the names in place, wherever the experiment speaks of a placement: as an axis, a fixed
   * setting, and in conditions.
   *
   * @param file where the experiment lies
   */
  static void resolve(String file, ObjectNode root) {
    try {
      new RelativeTopologies(Path.of(file)).walk(root);
    } catch (InvalidPathException _) {
      // An experiment without a place has no folder.
    }
  }

  /** Returns whether the value of a placement is meant as a file, not as a name. */
  static boolean isFile(String word) {
    return word.endsWith(".yaml") || word.endsWith(".json");
  }

  private void walk(JsonNode node) {
    if (node instanceof ArrayNode array) {
      array.forEach(this::walk);
    } else if (node instanceof ObjectNode object) {
      for (String key : List.copyOf(object.propertyNames())) {
        JsonNode value = object.get(key);
        if (!key.equals(KEY)) {
          walk(value);
        } else if (value instanceof ArrayNode array) {
          for (int i = 0; i < array.size(); i++) {
            if (array.get(i).isString()) {
              array.set(i, array.stringNode(found(array.get(i).stringValue())));
            }
          }
        } else if (value.isString()) {
          object.put(KEY, found(value.stringValue()));
        }
      }
    }
  }

  private String found(String word) {
    if (!isFile(word)) {
      return word;
    }
    try {
      Path beside = experiment.resolveSibling(word).normalize();
      return !Files.isReadable(Path.of(word)) && Files.isReadable(beside)
          ? beside.toString()
          : word;
    } catch (InvalidPathException _) {
      return word;
    }
  }
}
