package dev.doorbell.experiments.results.paper;

import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.experiments.config.formula.Formula;
import dev.doorbell.experiments.config.formula.Formula.FormulaException;
import dev.doorbell.experiments.model.Bounds;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** The closed forms by name. Bytes and nanoseconds; rates are bytes a nanosecond, GB/s. */
public class ModelNames implements Formula.Lookup {

  /** A function of numbers. */
  private interface Form {
    double of(Arguments a) throws FormulaException;
  }

  private record Function(int numbers, Form form) {}

  private static final Map<String, Function> FUNCTIONS =
      Map.of(
          // Share of the link that the payload of a read gets: address, bytes, largest request,
          // cut.
          "read_efficiency",
          new Function(4, ModelNames::readEfficiency),
          // Share that a write to a 64-bit address gets: bytes, largest payload.
          "write_efficiency",
          new Function(2, ModelNames::writeEfficiency),
          // Rate of n requests of a size over a round trip.
          "little",
          new Function(3, a -> Bounds.little(a.integer(0), a.whole(1), a.number(2))),
          // Rate through a buffer that is kept until acknowledged: bytes, round trip, way back.
          "staging",
          new Function(3, a -> Bounds.staging(a.whole(0), a.number(1), a.number(2))),
          // Nanoseconds a post: alone, its fences, posts that share them.
          "post",
          new Function(3, a -> Bounds.post(a.number(0), a.number(1), a.integer(2))),
          // Payload that a WQE of n blocks carries inline.
          "inline_bytes",
          new Function(1, a -> Bounds.inlineBytes(a.integer(0))),
          // Size at which two lines cross: alpha and rate of one, alpha and rate of the other.
          "crossing",
          new Function(
              4, a -> Bounds.crossover(a.number(0), a.number(1), a.number(2), a.number(3))));

  private static double readEfficiency(Arguments a) throws FormulaException {
    int completions = Tlp.completions(a.whole(0), a.whole(1), a.integer(2), a.integer(3));
    return Bounds.efficiency(a.whole(1), completions, Tlp.SHORT_HEADER + Tlp.FRAMING);
  }

  private static double writeEfficiency(Arguments a) throws FormulaException {
    int writes = Tlp.writes(0, a.whole(0), a.integer(1));
    return Bounds.efficiency(a.whole(0), writes, Tlp.LONG_HEADER + Tlp.FRAMING);
  }

  @Override
  public double call(String name, List<Double> arguments) throws FormulaException {
    Function function = FUNCTIONS.get(name);
    if (function == null) {
      throw new FormulaException("there is no function '%s'".formatted(name));
    }
    if (arguments.size() != function.numbers) {
      throw new FormulaException(
          "%s takes %d numbers, not %d".formatted(name, function.numbers, arguments.size()));
    }
    return function.form.of(new Arguments(name, arguments));
  }

  @Override
  public double select(String name, SequencedMap<String, String> settings) throws FormulaException {
    throw new FormulaException("'%s' asks for a run, and this claim names none".formatted(name));
  }

  private record Arguments(String function, List<Double> values) {
    double number(int index) {
      return values.get(index);
    }

    long whole(int index) throws FormulaException {
      double value = values.get(index);
      if (value != Math.rint(value) || Math.abs(value) > 1L << 40) {
        throw new FormulaException("%s takes whole numbers, not %s".formatted(function, value));
      }
      return (long) value;
    }

    int integer(int index) throws FormulaException {
      return Math.toIntExact(Math.min(whole(index), Integer.MAX_VALUE));
    }
  }
}
