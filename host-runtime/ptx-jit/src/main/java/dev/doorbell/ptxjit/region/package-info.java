/** Functions compiled region by region, each lane by itself. */
@NullMarked
package dev.doorbell.ptxjit.region;

import org.jspecify.annotations.NullMarked;
