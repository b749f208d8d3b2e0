package dev.doorbell.cuda;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lowers the version of PTX for an older driver, which rejects a newer {@code .version} even if it
 * supports every instruction of the file.
 */
final class PtxLowering {
  /** {@code ld.mmio} and {@code st.mmio} came with this version. */
  private static final int MMIO = 82;

  private static final Pattern VERSION =
      Pattern.compile("(?m)^(\\s*\\.version\\s+)(\\d+)\\.(\\d+)");

  private PtxLowering() {}

  /**
   * The newest PTX version that a driver accepts, major times ten plus minor.
   *
   * @param driver result of {@code cuDriverGetVersion}: 12060 for CUDA 12.6
   * @return {@link Integer#MAX_VALUE} for drivers newer than CUDA 13.0, which are not tabulated
   *     (PTX ISA, release notes)
   */
  static int newest(int driver) {
    int major = driver / 1000;
    int minor = driver % 1000 / 10;
    return switch (major) {
      case 11 -> 70 + Math.min(minor, 8);
      // CUDA 12.6 has the PTX version of 12.5: from there on the minor number is one less.
      case 12 -> 80 + (minor <= 5 ? minor : Math.min(minor, 9) - 1);
      case 13 -> minor == 0 ? 90 : Integer.MAX_VALUE;
      default -> major < 11 ? 65 : Integer.MAX_VALUE;
    };
  }

  /**
   * Returns the same program for a driver that accepts {@code newest}.
   *
   * <p>PTX below 8.2 has no {@code .mmio}: such accesses become relaxed accesses at system scope,
   * with the same order, but without the guarantee that two of them are never combined.
   */
  static String lower(String ptx, int newest) {
    Matcher version = VERSION.matcher(ptx);
    if (!version.find()
        || Integer.parseInt(version.group(2)) * 10 + Integer.parseInt(version.group(3)) <= newest) {
      return ptx;
    }
    String lowered =
        version.replaceFirst(
            Matcher.quoteReplacement(version.group(1) + newest / 10 + "." + newest % 10));
    return newest < MMIO ? lowered.replace(".mmio.relaxed.", ".relaxed.") : lowered;
  }
}
