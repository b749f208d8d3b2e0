package dev.doorbell.doctor.facts;

/**
 * A PCIe link as sysfs shows it.
 *
 * @param speed transfers per second and lane now, in GT/s; 0 where unknown
 * @param width lanes now; 0 where unknown
 */
public record PciLink(double speed, int width, double maxSpeed, int maxWidth) {
  private static final double GEN3 = 8;
  private static final double GEN6 = 64;

  public boolean known() {
    return speed > 0 && width > 0 && maxSpeed > 0 && maxWidth > 0;
  }

  /** Gigabits per second of the link as it is, after line encoding, before TLP headers. */
  public double gigabits() {
    double encoding = speed >= GEN6 || speed <= 0 ? 1 : speed >= GEN3 ? 128 / 130.0 : 0.8;
    return speed * width * encoding;
  }
}
