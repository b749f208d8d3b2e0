/** Code that executes all lanes of a warp together from where they converge. */
@NullMarked
package dev.doorbell.ptxjit.warp;

import org.jspecify.annotations.NullMarked;
