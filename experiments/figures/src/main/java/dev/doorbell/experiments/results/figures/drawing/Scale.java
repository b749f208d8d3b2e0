package dev.doorbell.experiments.results.figures.drawing;

/** Maps values onto the length of an axis, 0 at its start and 1 at its end. */
public sealed interface Scale {

  double low();

  double high();

  double at(double value);

  record Linear(double low, double high) implements Scale {
    public Linear {
      Scale.check(low, high);
    }

    @Override
    public double at(double value) {
      return (value - low) / (high - low);
    }
  }

  record Log(double low, double high) implements Scale {
    public Log {
      Scale.check(low, high);
      if (!(low > 0)) {
        throw new IllegalArgumentException("a logarithmic axis cannot begin at " + low);
      }
    }

    @Override
    public double at(double value) {
      return Math.log(value / low) / Math.log(high / low);
    }
  }

  private static void check(double low, double high) {
    if (!(low < high)) {
      throw new IllegalArgumentException("an axis from " + low + " to " + high);
    }
  }
}
