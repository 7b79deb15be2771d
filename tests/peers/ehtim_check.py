#!/usr/bin/env python3
"""What eht-imaging makes of our files: python3 tests/peers/ehtim_check.py OBS.uvfits IMAGES.fits

OBS.uvfits is what `penumbra observe` or `penumbra demo` wrote, IMAGES.fits what `penumbra export --format fits` wrote. Prints
eht-imaging's own reduced chi2 of each image in both closure kinds, intra-site baselines left out, with the cuts and the systematic
noise that Penumbra takes by default.
"""
import sys

import ehtim
import numpy
from astropy.io import fits


def main(observation_path, images_path):
    observation = ehtim.obsdata.load_uvfits(observation_path)
    print(f"{observation.source}: {len(observation.data)} visibilities of {len(observation.tarr)} stations")
    observation = observation.flag_uvdist(uv_min=1e8)
    frame = ehtim.image.load_fits(images_path)
    pixels = fits.open(images_path)[0].data.reshape(-1, frame.ydim, frame.xdim)
    print(f"{len(pixels)} images of {frame.xdim} x {frame.ydim} pixels, {frame.psize / ehtim.RADPERUAS:.3g} uas each")
    for number, image in enumerate(pixels):
        one = frame.copy()
        one.imvec = numpy.maximum(image[::-1], 0).flatten()  # FITS begins at the bottom, eht-imaging at the top
        chi2 = [
            observation.chisq(one, dtype=kind, ttype="direct", snrcut=3.0, systematic_noise=0.02)
            for kind in ("cphase", "logcamp")
        ]
        print(f"image {number}: chi2 of closure phases {chi2[0]:.3f}, of log closure amplitudes {chi2[1]:.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
