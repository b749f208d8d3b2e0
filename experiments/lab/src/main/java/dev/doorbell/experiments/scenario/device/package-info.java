/**
 * HCAs that libibverbs drives, as configs name them: which driver, which of this machine's devices,
 * and what it can do. Knows nothing of points and kernels.
 */
@NullMarked
package dev.doorbell.experiments.scenario.device;

import org.jspecify.annotations.NullMarked;
