package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.value.Value;

/**
 * A setting that a kernel brings: experiments fix or sweep it like a built-in one, and the kernel
 * gets it as a parameter of that name.
 *
 * @param unit of its values; empty for counts
 * @param standard the value when an experiment is silent
 * @param least smallest value
 * @param most largest value
 */
public record KernelSetting(
    String name,
    String description,
    NumberType type,
    String unit,
    Value standard,
    double least,
    double most) {

  /** The number of a value. */
  public static double number(Value value) {
    return switch (value) {
      case Value.Whole(long whole) -> whole;
      case Value.Real(double real) -> real;
      case Value.Text _, Value.Flag _ ->
          throw new IllegalArgumentException(value.text() + " is no number");
    };
  }

  /** The bits that a kernel gets for a value. */
  public long bits(Value value) {
    return value instanceof Value.Whole(long whole) ? type.bits(whole) : type.bits(number(value));
  }
}
