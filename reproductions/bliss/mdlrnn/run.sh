#!/bin/sh
# What the networks in this folder were found with. Each command may be stopped and run again; finished work is kept.
# Without the options that shorten it (generations, patience) a search runs for at most 25,000 generations.
set -e
cd "$(dirname "$0")"
out=${1:-results}
search="humboldt run bliss --model mdlrnn --preset paper --out $out"
$search --task an_bn --seeds 4 --set factors=10 --set generations=8000 --set patience=2500
$search --task dyck_1 --seeds 3 --set factors=2 --set generations=2500 --set patience=1000
$search --task dyck_1 --seeds 1 --set factors=10 --set generations=3000 --set patience=1500
$search --task an_bm_cn_plus_m --seeds 2 --set factors=4 --set generations=1200 --set patience=600
$search --task an_bm_cn_plus_m --seeds 1 --set factors=10 --set generations=2000 --set patience=1000
$search --task an_bn_cn --seeds 2 --set factors=10 --set generations=4000 --set patience=3000
$search --task an_bn_cn_dn --seeds 2 --set factors=10 --set generations=5000 --set patience=4000
$search --task dyck_2 --seeds 1 --set factors=10 --set generations=3000 --set patience=2000
$search --task dyck_2 --seeds 1 --set factors=1 --set generations=3000 --set patience=2500
$search --task dyck_1 --seeds 1 --set factors=10 --set activations=wide --set generations=2500 --set patience=1500
python export.py "$out"
# What the authors released; authors.py says where it is:
# python authors.py --reference mdlrnn-torch --statistics mdlrnn > authors.json
python wide.py an_bn --seed 2 --generations 7000
python wide.py an_bn_cn --seed 11 --generations 1700
python wide.py an_bn_cn --seed 15 --generations 4000
