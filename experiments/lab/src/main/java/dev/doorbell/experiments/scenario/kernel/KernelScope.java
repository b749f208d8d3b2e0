package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.config.formula.Frame;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelBuffer;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Point;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The numbers that a kernel's own memory depends on.
 *
 * @param settings values of the kernel's settings, by name
 * @param size bytes of a message
 * @param threads of a block
 * @param iterations that are measured
 * @param warmup iterations before those
 */
public record KernelScope(
    KernelExtension extension,
    Map<String, Value> settings,
    long size,
    int ranks,
    int window,
    int blocks,
    int threads,
    long iterations,
    long warmup) {
  /** Numbers of a buffer, at most: what a Java array holds, with guards. */
  private static final long MOST = 1 << 27;

  /** The values that a point gives the settings of a kernel. */
  public static Map<String, Value> settings(KernelExtension extension, Point point) {
    Map<String, Value> settings = standard(extension);
    settings.replaceAll((name, value) -> point.settings().getOrDefault(name, value));
    return settings;
  }

  /** The defaults of a kernel's settings. */
  public static Map<String, Value> standard(KernelExtension extension) {
    Map<String, Value> settings = new LinkedHashMap<>();
    extension.settings().forEach(setting -> settings.put(setting.name(), setting.standard()));
    return settings;
  }

  public Value value(KernelSetting setting) {
    return settings.getOrDefault(setting.name(), setting.standard());
  }

  /** Values for the kernel's formulas, of rank 0 and number 0. */
  public Frame frame(long seed) {
    Frame frame = new Frame(extension.formulaNames(), seed);
    KernelExtension.VARIABLES.forEach(name -> frame.set(name, (double) bits(name)));
    for (KernelSetting setting : extension.settings()) {
      frame.set(setting.name(), KernelSetting.number(value(setting)));
    }
    return frame;
  }

  /** The value of a number that formulas can name; a setting has the bits of its type. */
  public long bits(String name) {
    for (KernelSetting setting : extension.settings()) {
      if (setting.name().equals(name)) {
        return setting.bits(value(setting));
      }
    }
    return switch (name) {
      case "size" -> size;
      case "ranks" -> ranks;
      case "window" -> window;
      case "blocks" -> blocks;
      case "threads" -> threads;
      case "iterations" -> iterations;
      case "warmup" -> warmup;
      default -> throw new IllegalArgumentException("no number is named " + name);
    };
  }

  /**
   * Counts the numbers of a buffer.
   *
   * @throws FormulaException when there are none, or more than there can be
   */
  public int count(KernelBuffer buffer) throws FormulaException {
    return count(buffer.name(), buffer.count());
  }

  private int count(String name, Formula formula) throws FormulaException {
    long count = formula.whole(frame(0));
    if (count < 1 || count > MOST) {
      throw new FormulaException(
          "buffer %s has %s = %d numbers, and 1 to %d fit".formatted(name, formula, count, MOST));
    }
    return (int) count;
  }
}
