package dev.doorbell.experiments.results.claims;

import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.experiments.model.Bounds;
import java.util.List;
import java.util.SequencedMap;

/** The closed forms by name. Bytes and nanoseconds; rates are bytes a nanosecond, GB/s. */
public final class ModelNames implements Expression.Names {

  @Override
  public double call(String function, List<Double> arguments) throws Expression.Unknown {
    Arguments a = new Arguments(function, arguments);
    return switch (function) {
      // Share of the link that the payload of a read gets: address, bytes, largest request, cut.
      case "read_efficiency" -> {
        a.count(4);
        long bytes = a.whole(1);
        int completions = Tlp.completions(a.whole(0), bytes, a.integer(2), a.integer(3));
        yield Bounds.efficiency(bytes, completions, Tlp.SHORT_HEADER + Tlp.FRAMING);
      }
      // The same of a write to a 64-bit address: bytes, largest payload.
      case "write_efficiency" -> {
        a.count(2);
        long bytes = a.whole(0);
        int writes = Tlp.writes(0, bytes, a.integer(1));
        yield Bounds.efficiency(bytes, writes, Tlp.LONG_HEADER + Tlp.FRAMING);
      }
      // Rate of n requests of a size over a round trip.
      case "little" -> {
        a.count(3);
        yield Bounds.little(a.integer(0), a.whole(1), a.number(2));
      }
      // Rate through a buffer that is kept until acknowledged: bytes, round trip, credit's way
      // back.
      case "staging" -> {
        a.count(3);
        yield Bounds.staging(a.whole(0), a.number(1), a.number(2));
      }
      // Nanoseconds a post: alone, its fences, posts that share them.
      case "post" -> {
        a.count(3);
        yield Bounds.post(a.number(0), a.number(1), a.integer(2));
      }
      // Payload that a WQE of n blocks carries inline.
      case "inline_bytes" -> {
        a.count(1);
        yield Bounds.inlineBytes(a.integer(0));
      }
      // Size at which two lines cross: alpha and rate of one, alpha and rate of the other.
      case "crossing" -> {
        a.count(4);
        yield Bounds.crossover(a.number(0), a.number(1), a.number(2), a.number(3));
      }
      case "min" -> {
        a.count(2);
        yield Math.min(a.number(0), a.number(1));
      }
      case "max" -> {
        a.count(2);
        yield Math.max(a.number(0), a.number(1));
      }
      default -> throw new Expression.Unknown("there is no function '%s'".formatted(function));
    };
  }

  @Override
  public double select(String name, SequencedMap<String, String> settings)
      throws Expression.Unknown {
    throw new Expression.Unknown("'%s' asks for a run, and this claim names none".formatted(name));
  }

  private record Arguments(String function, List<Double> values) {
    void count(int wanted) throws Expression.Unknown {
      if (values.size() != wanted) {
        throw new Expression.Unknown(
            "%s takes %d numbers, not %d".formatted(function, wanted, values.size()));
      }
    }

    double number(int index) {
      return values.get(index);
    }

    long whole(int index) throws Expression.Unknown {
      double value = values.get(index);
      if (value != Math.rint(value) || Math.abs(value) > 1L << 40) {
        throw new Expression.Unknown("%s takes whole numbers, not %s".formatted(function, value));
      }
      return (long) value;
    }

    int integer(int index) throws Expression.Unknown {
      return Math.toIntExact(Math.min(whole(index), Integer.MAX_VALUE));
    }
  }
}
