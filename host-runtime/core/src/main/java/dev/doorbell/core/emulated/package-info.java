/** Creates emulated devices in the world of a fabric. */
@NullMarked
package dev.doorbell.core.emulated;

import org.jspecify.annotations.NullMarked;
