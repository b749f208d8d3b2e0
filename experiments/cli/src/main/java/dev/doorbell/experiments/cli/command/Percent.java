package dev.doorbell.experiments.cli.command;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads {@code 5%}, {@code 2.5} and {@code 0%} as shares: 0.05, 0.025 and 0. */
public final class Percent implements ITypeConverter<Double> {
  @Override
  public Double convert(String text) {
    try {
      double percent = Double.parseDouble(text.replaceFirst("\\s*%$", ""));
      if (percent >= 0 && percent < 1e6) {
        return percent / 100;
      }
    } catch (NumberFormatException _) {
      // Said below, as for a negative one.
    }
    throw new TypeConversionException("'%s' is not a share such as 5%%".formatted(text));
  }
}
