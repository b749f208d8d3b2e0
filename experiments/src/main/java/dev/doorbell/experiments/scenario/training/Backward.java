package dev.doorbell.experiments.scenario.training;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.Problem;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A backward pass: the layers in the order in which their gradients are ready, the last of the
 * model first.
 *
 * @param layers in that order
 */
record Backward(List<Layer> layers) {
  private static final String CODE = "DB-P036";

  private static final Pattern BETWEEN = Pattern.compile("[\\s,]+");

  /** Buckets are cut at whole elements of any type. */
  private static final int UNIT = 16;

  /**
   * A layer.
   *
   * @param nanos that its backward pass takes
   * @param bytes of its gradient
   */
  record Layer(long nanos, long bytes) {}

  /**
   * Gradients that are reduced together.
   *
   * @param ready nanoseconds from the beginning of the backward pass until the last of them is
   *     there
   */
  record Bucket(long ready, int bytes) {}

  Backward {
    layers = List.copyOf(layers);
  }

  /** Layers that are all alike. */
  static Backward uniform(int layers, long nanos, long bytes) {
    return new Backward(Collections.nCopies(layers, new Layer(nanos, bytes / layers)));
  }

  /**
   * Reads a file: a line for each layer, nanoseconds and bytes. Empty lines and what follows {@code
   * #} are skipped.
   *
   * @throws ConfigException when a line is none; the problem names it
   */
  static Backward read(String file, String text) throws ConfigException {
    List<Layer> layers = new ArrayList<>();
    List<String> lines = text.lines().toList();
    for (int number = 1; number <= lines.size(); number++) {
      String line = lines.get(number - 1).replaceAll("#.*", "").strip();
      if (line.isEmpty()) {
        continue;
      }
      List<String> words = BETWEEN.splitAsStream(line).toList();
      if (words.size() != 2) {
        throw problem(file, number, "%d numbers".formatted(words.size()));
      }
      layers.add(
          new Layer(
              whole(file, number, words.get(0)), Math.max(1, whole(file, number, words.get(1)))));
    }
    if (layers.isEmpty()) {
      throw problem(file, Math.max(1, lines.size()), "there is no layer in it");
    }
    return new Backward(layers);
  }

  private static long whole(String file, int line, String word) throws ConfigException {
    if (!word.matches("[0-9]{1,12}")) {
      throw problem(file, line, "'%s' is no whole number".formatted(word));
    }
    return Long.parseLong(word);
  }

  private static ConfigException problem(String file, int line, String what) {
    return new ConfigException(
        List.of(
            Problem.of(CODE, "%s:%d".formatted(file, line), what)
                .effect(
                    "a line is a layer: nanoseconds of its backward pass, bytes of its gradient")
                .fix(
                    "write such as 45000 1048576; the layer whose gradient is ready first comes first")));
  }

  /** How long it takes. */
  long nanos() {
    return layers.stream().mapToLong(Layer::nanos).sum();
  }

  /** Bytes of all gradients. */
  long bytes() {
    return layers.stream().mapToLong(Layer::bytes).sum();
  }

  /**
   * Fills buckets in the order of the gradients: a bucket is full when a further layer would make
   * it larger than {@code most}, and a larger layer has one alone.
   */
  List<Bucket> buckets(long most) {
    List<Bucket> buckets = new ArrayList<>();
    long now = 0;
    long bytes = 0;
    long ready = 0;
    for (Layer layer : layers) {
      if (bytes > 0 && bytes + layer.bytes() > most) {
        buckets.add(new Bucket(ready, padded(bytes)));
        bytes = 0;
      }
      now += layer.nanos();
      bytes += layer.bytes();
      ready = now;
    }
    buckets.add(new Bucket(ready, padded(bytes)));
    return buckets;
  }

  private static int padded(long bytes) {
    return Math.toIntExact((bytes + UNIT - 1) / UNIT * UNIT);
  }
}
