/** A wire between software HCAs over the {@linkplain dev.doorbell.push.network network}. */
@NullMarked
package dev.doorbell.push.wire;

import org.jspecify.annotations.NullMarked;
